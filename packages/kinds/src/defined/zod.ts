/** The only module that imports zod. */
export { z } from 'zod'
