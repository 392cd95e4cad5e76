import type { FormEvent } from 'react';

/** What a form does when it is sent: the page answers it, not the browser. */
export const submitted =
  (submit: () => unknown) =>
  (event: FormEvent): void => {
    event.preventDefault();
    void submit();
  };
