# Brings each coding agent's conversation back, in the right kitty window
# nix-build -E 'with import <nixpkgs> {}; callPackage ./packaging/nix/package.nix {}'
{
  lib,
  stdenv,
  rustPlatform,
}:

rustPlatform.buildRustPackage {
  pname = "kittymux";
  version = "0.1.0";

  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  # Its own tests want kitties, shells and agents on a terminal; those of the library do not.
  cargoTestFlags = [ "--lib" ];

  postInstall = ''
    BINARY=$out/bin/kittymux
    mv "$BINARY" kittymux
    PREFIX=$out BINARY=$PWD/kittymux UNITS=${if stdenv.hostPlatform.isDarwin then "launchd" else "systemd"} \
      sh packaging/install.sh install
  '';

  meta = {
    description = "Brings each coding agent's conversation back, in the right kitty window";
    license = with lib.licenses; [
      mit
      asl20
    ];
    platforms = lib.platforms.unix;
    mainProgram = "kittymux";
  };
}
