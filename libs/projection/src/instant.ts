/** When the sender says it happened; when it was received where what he says is no date (the 31st of February). */
export function instantOf(at: string, receivedAt: Date): Date {
  const instant = new Date(at);
  return Number.isNaN(instant.getTime()) ? receivedAt : instant;
}
