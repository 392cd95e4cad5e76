const NAME = 'recredit_key';
const DAYS_7 = 7 * 24 * 60 * 60;
/** As `recredit keys create` makes them; nothing in it needs escaping in a cookie. */
const KEY = /^rk_[\w-]{1,200}$/;

/** The cookie is the key itself, out of reach of scripts: the API holds no session, so any API process understands it. */
export function sessionCookie(key: string, secure: boolean): string {
  return cookie(key, DAYS_7, secure);
}

/** Ends the session of this browser. The key lives on. */
export function endedSessionCookie(secure: boolean): string {
  return cookie('', 0, secure);
}

function cookie(value: string, seconds: number, secure: boolean): string {
  return `${NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure ? '; Secure' : ''}`;
}

/** @returns null where there is none that could be a key */
export function keyOfCookie(header: string | undefined): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [name, value = ''] = pair.trim().split('=', 2);
    if (name === NAME && isKeyText(value)) return value;
  }
  return null;
}

export function isKeyText(value: unknown): value is string {
  return typeof value === 'string' && KEY.test(value);
}
