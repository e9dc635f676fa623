import type { Printer, PrinterLoader, ResourceDefinition } from '../interfaces.ts'
import { defaultPrinter } from '../printers/default.ts'

/** Loads the printers of the built-in kinds with the first Table: programs that show none never pay for them. */

/** The loader of the printer of a kind; kinds without columns have `defaultPrinter`. @param key `group/Kind` of `printers` */
export function builtInPrinter(key: string): PrinterLoader {
  return async () => {
    const { printers } = await import('../strategies/printers.ts')
    return printers[key] ?? defaultPrinter
  }
}

/** A printer made of another one, which is loaded with it. `defaultPrinter` stays what it is. */
export function mappedPrinter(printer: Printer | PrinterLoader, map: (printer: Printer) => Printer): Printer | PrinterLoader {
  const mapped = (each: Printer) => (each === defaultPrinter ? each : map(each))
  return typeof printer === 'function' ? async () => mapped(await printer()) : mapped(printer)
}

/**
 * The printer of a resource, `defaultPrinter` if it has none.
 *
 * @returns a promise where the printer is loaded, as those of the built-in kinds are
 * @example
 * import { builtInKinds, printerOf } from '@krmkit/kinds'
 * const pods = builtInKinds().find(({ resource }) => resource.name === 'pods')!
 * const { columns } = await printerOf(pods)
 * columns[1]!.name // 'Ready'
 */
export function printerOf({ strategy }: Pick<ResourceDefinition, 'strategy'>): Printer | Promise<Printer> {
  const { printer = defaultPrinter } = strategy
  return typeof printer === 'function' ? printer() : printer
}
