"""What the tests share: worlds, fakes, engines. Production code never imports it."""
