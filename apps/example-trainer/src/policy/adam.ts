/** Adam (arXiv:1412.6980), climbing. */
export interface Adam {
  readonly weights: Float64Array;
  /** Moves the weights up the gradient and answers the gradient's length. */
  climb(gradient: Float64Array): number;
}

export function adam(size: number, learningRate: number, beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8): Adam {
  const weights = new Float64Array(size);
  const first = new Float64Array(size);
  const second = new Float64Array(size);
  let updates = 0;
  return { weights, climb };

  function climb(gradient: Float64Array): number {
    updates++;
    const correction1 = 1 - beta1 ** updates;
    const correction2 = 1 - beta2 ** updates;
    let squares = 0;
    for (let i = 0; i < size; i++) {
      const g = gradient[i];
      squares += g * g;
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      weights[i] += (learningRate * first[i]) / correction1 / (Math.sqrt(second[i] / correction2) + epsilon);
    }
    return Math.sqrt(squares);
  }
}
