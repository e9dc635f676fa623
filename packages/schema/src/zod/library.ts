/** The only import of zod. */
export { z } from 'zod'
