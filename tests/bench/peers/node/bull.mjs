// BullMQ: a job scheduler for each job in Redis, one worker with fifty at once.
import { Queue, Worker } from "bullmq";

const { PEERS_URL, PEERS_JOBS, PEERS_REDIS } = process.env;
const connection = { url: PEERS_REDIS, maxRetriesPerRequest: null };
const queue = new Queue("peers", { connection });
for (let number = 0; number < Number(PEERS_JOBS); number += 1) {
  await queue.upsertJobScheduler(
    `job-${number}`,
    { pattern: "* * * * *", tz: "UTC" },
    { name: "call", data: { number }, opts: { removeOnComplete: true } },
  );
}
const work = async ({ data }) => {
  const answer = await fetch(`${PEERS_URL}/${data.number}`, { method: "POST", body: "{}" });
  if (answer.status !== 200) throw new Error(`job ${data.number}: ${answer.status}`);
  await answer.arrayBuffer();
};
new Worker("peers", work, { connection, concurrency: 50 });
