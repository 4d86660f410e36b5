"use strict";
/**
 * Is this call Fencepost's, unchanged and fresh? And which attempt of which execution is it?
 *
 * `keys` are what your team was given: secrets (whsec_...) and public keys (whpk_...). While a key is being replaced there are
 * two, and one that fits is enough. `body` is a Buffer of the bytes as they came in: parse them afterwards. `now` is epoch seconds.
 * Nothing but Node is needed.
 */
const crypto = require("node:crypto");

const TOLERANCE_SECONDS = 300;
const ED25519 = Buffer.from("302a300506032b6570032100", "hex"); // what stands before the 32 bytes of a public key

/** Do not act on the call: answer 401. */
class NotProvenError extends Error {}

/** The execution id, proven by the standard signature. Any library of Standard Webhooks does the same. */
function verifyStandard(headers, body, keys, now) {
  const given = lowered(headers);
  const [execution, timestamp] = fresh(given, now);
  const signatures = (given["webhook-signature"] || "").split(" ").map((part) => split(part, ","));
  prove(Buffer.concat([Buffer.from(`${execution}.${timestamp}.`), body]), signatures, keys);
  return execution;
}

/** Execution id, attempt and fence, proven by Fencepost-Signature: use this one where you compare fences. */
function verifyFenced(headers, body, keys, now) {
  const given = lowered(headers);
  const [execution, timestamp] = fresh(given, now);
  const [attempt, fence] = [given["fencepost-attempt"], given["fencepost-fence"]];
  const digest = crypto.createHash("sha256").update(body).digest("hex");
  const parts = (given["fencepost-signature"] || "").split(",").map((part) => split(part, "="));
  if (!parts.some(([name, value]) => name === "t" && value === timestamp)) {
    throw new NotProvenError("Fencepost-Signature is of another instant");
  }
  prove(Buffer.from(`${execution}.${timestamp}.${attempt}.${fence}.${digest}`), parts, keys);
  return { execution, attempt: Number(attempt), fence: Number(fence) };
}

function lowered(headers) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function split(part, mark) {
  const at = part.indexOf(mark);
  return at < 0 ? ["", ""] : [part.slice(0, at), part.slice(at + 1)];
}

function fresh(given, now) {
  const [execution, timestamp] = [given["webhook-id"], given["webhook-timestamp"]];
  if (!execution || !/^\d+$/.test(timestamp || "") || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new NotProvenError("the call is too old, or says nothing of itself");
  }
  return [execution, timestamp];
}

function prove(content, signatures, keys) {
  const fits = ([scheme, text]) =>
    keys.some((key) => (scheme === "v1" && shared(key, content, text)) || (scheme === "v1a" && open(key, content, text)));
  if (!signatures.some(fits)) {
    throw new NotProvenError("no signature by a key that is known here");
  }
}

function shared(key, content, text) {
  if (!key.startsWith("whsec_")) return false;
  const secret = Buffer.from(key.slice("whsec_".length), "base64");
  const expected = crypto.createHmac("sha256", secret).update(content).digest();
  const signature = Buffer.from(text, "base64");
  return signature.length === expected.length && crypto.timingSafeEqual(signature, expected);
}

function open(key, content, text) {
  if (!key.startsWith("whpk_")) return false;
  const der = Buffer.concat([ED25519, Buffer.from(key.slice("whpk_".length), "base64")]);
  const publicKey = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
  return crypto.verify(null, content, publicKey, Buffer.from(text, "base64"));
}

module.exports = { NotProvenError, verifyStandard, verifyFenced };
