/** Nest's name for the platform's log. */
export const LOGGER = Symbol('Logger');
