import { createInterface } from "node:readline/promises"

/** Ctrl-C was pressed at a question. The program ends without a message. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
}

/** Reads one line from a terminal. Ctrl-D (end of input) means no. Ctrl-C throws `Interrupted`. */
export async function askOn(
  question: string,
  { input, output }: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream },
): Promise<string> {
  const readline = createInterface({ input, output, terminal: true })
  try {
    return await readline.question(question)
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error
    // The cursor is still on the line of the question.
    output.write("\n")
    if ((error as Error).message.includes("Ctrl+C")) throw new Interrupted()
    return "no"
  } finally {
    readline.close()
  }
}
