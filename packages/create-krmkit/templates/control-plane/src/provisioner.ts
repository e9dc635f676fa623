/** The system that the control plane manages. Every call can be repeated. */
export interface Provisioner {
  /** Creates a database, or grows it to the size. @returns the address for clients. */
  ensure(name: string, wanted: { readonly engine: string; readonly sizeGi: number }): Promise<string>
  /** Deletes a database if it exists. */
  remove(name: string): Promise<void>
}

/** Databases that exist only in this process. Replace it by calls to your cloud. */
export class MemoryProvisioner implements Provisioner {
  readonly sizes = new Map<string, number>()

  async ensure(name: string, { sizeGi }: { readonly engine: string; readonly sizeGi: number }): Promise<string> {
    this.sizes.set(name, sizeGi)
    return `${name.replace('/', '.')}.databases.example.com:5432`
  }

  async remove(name: string): Promise<void> {
    this.sizes.delete(name)
  }
}
