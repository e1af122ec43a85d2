# Built from the vendored source archive that `make source` writes:
#   brew install --formula packaging/homebrew/kittymux.rb
class Kittymux < Formula
  desc "Brings each coding agent's conversation back, in the right kitty window"
  version "0.1.0"
  url "file://#{File.expand_path("../../dist", __dir__)}/kittymux-#{version}-source.tar.gz"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "build", "--locked", "--offline", "--release"
    ENV["PREFIX"] = prefix
    ENV["BINARY"] = "target/release/kittymux"
    ENV["UNITS"] = OS.mac? ? "launchd" : "systemd"
    system "packaging/install.sh", "install"
    # Homebrew links its own places for completions.
    bash_completion.install share/"bash-completion/completions/kittymux"
  end

  service do
    run [opt_bin/"kittymux", "--tick"]
    run_type :interval
    interval 10
  end

  test do
    assert_match "kittymux #{version}", shell_output("#{bin}/kittymux --version")
    ENV["HOME"] = testpath
    assert_match "bash", shell_output("#{bin}/kittymux complete -- completions ''")
  end
end
