// Builds the console into the Python package. The same sources and the same lock give the same bytes, anywhere:
// a test rebuilds and compares. `node build.mjs [build|watch|test]`; FENCEPOST_CONSOLE_OUT names another folder.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, context } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out =
  process.env.FENCEPOST_CONSOLE_OUT ?? join(here, "../layers/core/python/fencepost/console/static");
const FONT = "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2";
const LICENSED = { Preact: "preact/LICENSE", Inter: "@fontsource-variable/inter/LICENSE" };

const page = {
  absWorkingDir: here,
  entryPoints: [
    { in: "src/main.tsx", out: "console" },
    { in: "src/style/console.css", out: "console" },
  ],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome111", "firefox115", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  external: ["*.woff2"],
  charset: "utf8",
  logLevel: "warning",
};

function copied() {
  mkdirSync(out, { recursive: true });
  cpSync(join(here, "src/index.html"), join(out, "index.html"));
  cpSync(join(here, "src/icon.svg"), join(out, "icon.svg"));
  cpSync(join(here, "node_modules", FONT), join(out, "inter.woff2"));
  const licences = Object.entries(LICENSED).map(
    ([name, file]) => `${name}\n\n${readFileSync(join(here, "node_modules", file), "utf8").trim()}\n`,
  );
  writeFileSync(join(out, "licenses.txt"), licences.join("\n\n"));
}

async function tested() {
  const folder = join(here, "node_modules/.cache/fencepost-tests");
  rmSync(folder, { recursive: true, force: true });
  const entryPoints = readdirSync(join(here, "src/lib"))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `src/lib/${name}`);
  await build({
    ...page,
    entryPoints,
    outdir: folder,
    minify: false,
    platform: "node",
    target: "node20",
    outExtension: { ".js": ".mjs" },
  });
  const files = readdirSync(folder).map((name) => join(folder, name));
  process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
}

switch (process.argv[2] ?? "build") {
  case "build":
    copied();
    await build(page);
    break;
  case "watch":
    copied();
    await (await context(page)).watch();
    break;
  case "test":
    await tested();
    break;
  default:
    console.error("build, watch or test");
    process.exit(2);
}
