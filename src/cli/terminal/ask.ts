import { createInterface } from "node:readline/promises"

/** Somebody pressed Ctrl-C at a question: the program ends without a word. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
}

/** One line from a terminal. Ctrl-D, the end of the input, is a no; Ctrl-C throws `Interrupted`. */
export async function askOn(
  question: string,
  { input, output }: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream },
): Promise<string> {
  const readline = createInterface({ input, output, terminal: true })
  try {
    return await readline.question(question)
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error
    // The cursor stands behind the question.
    output.write("\n")
    if ((error as Error).message.includes("Ctrl+C")) throw new Interrupted()
    return "no"
  } finally {
    readline.close()
  }
}
