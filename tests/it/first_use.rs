//! As somebody does it who found it five minutes ago: set it up, work, lose kitty, open it again.

use crate::rig::{Rig, is_real, until};
use crate::scene::Scene;

#[test]
fn set_up_once_and_the_conversation_is_there_again() {
    let rig = Rig::new("/bin/bash", true);
    // Nothing of the test's own helps: no socket, no permission, no watcher.
    rig.file(
        ".config/kitty/kitty.conf",
        "shell /bin/bash\nconfirm_os_window_close 0\nupdate_check_interval 0\n\
         initial_window_width 100c\ninitial_window_height 30c\nremember_window_size no\n",
    );
    rig.kittymux_ok(None, &["setup", "--yes"]);
    let kitty = rig.start_as_set_up(&[]);
    let scene = Scene { rig, kitty };
    let dir = scene.rig.dir("code/api");
    let id = scene.type_in(&dir, "claude --model opus", "(new)");
    let sid = scene.talk(id);
    let doctor = scene.rig.kittymux_ok(Some(&scene.kitty), &["doctor"]);
    assert!(!doctor.contains("problem"), "{doctor}");
    let offered = scene.rig.state().join("sessions/startup.kitty-session");
    let Scene { rig, kitty } = scene;
    if is_real() {
        let without = format!("kitty (pid {}) has not loaded our watcher", kitty.pid);
        assert!(!doctor.contains(&without), "{doctor}");
        // No look of the timer, and no save: kitty's end does it all.
        kitty.end();
    } else {
        rig.tick(0);
        rig.tick(21);
        kitty.crash();
        rig.tick(30);
    }
    until("the desk to be offered", || {
        let text = std::fs::read_to_string(&offered).ok()?;
        text.contains("kittymux_save=").then_some(())
    });
    // Just kitty, as from a menu.
    let kitty = rig.start_as_set_up(&[]);
    let scene = Scene { rig, kitty };
    scene.resume(scene.asking(&sid), &sid);
    let (argv, cwd) = scene.last_start();
    assert_eq!(argv[1..], ["--model", "opus", "--resume", &sid]);
    assert_eq!(cwd, dir.display().to_string());
}
