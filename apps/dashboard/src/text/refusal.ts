/** What the API said when it refused, without the prefix that urql puts before it. */
export function refusalText({ message }: Pick<Error, 'message'>): string {
  return message.replace(/^\[\w+\] /, '');
}
