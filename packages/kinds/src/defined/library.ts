/** The one way into zod. */
export { z } from 'zod'
