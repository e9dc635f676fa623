/** The seed of a run; `CLIENTS_SEED` repeats a failed one. */
export function runSeed(): number {
  return Number(process.env['CLIENTS_SEED'] ?? 20_261_121)
}
