/** @param values at least one; reordered */
export function median(values: number[]): number {
  ascend(values);
  const half = values.length >> 1;
  return values.length % 2 === 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/** As many values as a group has are sooner put in place one by one than sort is called. */
const FEW = 32;

function ascend(values: number[]): void {
  if (values.length > FEW) {
    values.sort((a, b) => a - b);
    return;
  }
  for (let i = 1; i < values.length; i++) {
    const value = values[i];
    let place = i;
    for (; place > 0 && values[place - 1] > value; place--) values[place] = values[place - 1];
    values[place] = value;
  }
}
