/** Larger bodies are parsed in slices, and weighed again after defaulting. */
export const largeBodyBytes = 64 * 1024
