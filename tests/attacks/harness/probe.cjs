/**
 * Loaded into the server's process before the server (`node --require`): measures how long the event loop is held and how much memory is
 * used, and answers over the channel to the parent process. The product knows nothing of it.
 *
 * A stall is the shorter of two figures between two ticks: elapsed time, and processor time of the process. On a machine with other work,
 * time in which the process did not run counts for nothing.
 */
'use strict'

const tickMs = 4
/** Resident memory is read on every n-th tick. */
const ticksPerSample = 10

let longestMs = 0
let peakBytes = 0
let lastMs = performance.now()
let lastCpuMs = cpuMs()
let ticks = 0

// The workers of a server have its flags, but other messages and an open channel.
if (process.argv[2] !== 'worker') start()

function start() {
  setInterval(tick, tickMs).unref()
  // In a process without a parent the module is asked itself.
  process.on('message', ({ id, ask }) => {
    // What came in during a stall is answered after the tick that measures it.
    setTimeout(() => {
      tick()
      process.send({ id, ...answers[ask]() })
    }, tickMs)
  })
  process.channel?.unref()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}

function tick() {
  const nowMs = performance.now()
  const nowCpuMs = cpuMs()
  longestMs = Math.max(longestMs, Math.min(nowMs - lastMs - tickMs, nowCpuMs - lastCpuMs))
  lastMs = nowMs
  lastCpuMs = nowCpuMs
  if (ticks++ % ticksPerSample === 0) peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const answers = {
  /** Begins a measurement. */
  begin() {
    longestMs = 0
    peakBytes = process.memoryUsage.rss()
    return { rssBytes: peakBytes }
  },
  /** Figures since `begin`. */
  read: () => ({ longestMs, peakBytes, cpuMs: cpuMs() }),
  /** What is left after a collection. */
  collect() {
    for (let i = 0; i < 3; i++) global.gc()
    const { heapUsed, rss, external } = process.memoryUsage()
    lastMs = performance.now()
    lastCpuMs = cpuMs()
    return { heapBytes: heapUsed + external, rssBytes: rss }
  },
}

module.exports = answers
