/** Signals that stop a container. */
import type { FieldPath } from './field-path.ts'

const words =
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'.split(
    ' ',
  )
const numbered = (base: string, count: number) => Array.from({ length: count }, (_, i) => `${base}${i + 1}`)
const ofLinux = [...words, ...numbered('RTMIN+', 15), ...numbered('RTMAX-', 14)].map((word) => `SIG${word}`).sort()
const ofWindows = ['SIGKILL', 'SIGTERM']

/** @param os the system of the pod */
export function validateStopSignal(
  signal: string,
  at: FieldPath,
  os: { readonly name?: string | undefined } | null | undefined,
): void {
  if (os === undefined || os === null) {
    at.forbidden('may not be set for containers with empty `spec.os.name`')
    return
  }
  const known = os.name === 'windows' ? ofWindows : ofLinux
  if ((os.name === 'windows' || os.name === 'linux') && !known.includes(signal)) at.notSupported(signal, known)
}
