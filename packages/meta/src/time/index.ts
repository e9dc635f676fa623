export { formatDuration, formatDurationMs, parseDuration, parseDurationMs } from './duration.ts'
export {
  formatGoTime,
  formatMicroTime,
  formatTime,
  type Instant,
  instantToMs,
  normalizeMicroTime,
  normalizeTime,
  parseInstant,
  parseMicroTime,
  parseTime,
} from './time.ts'
export { isTimeZone } from './time-zone.ts'
