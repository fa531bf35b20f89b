import { canInstallPackages, findProgram, installPackages } from "./server-programs.ts"

export type Shell = "bash" | "zsh" | "fish"

/** The path of a shell, which is installed if the machine lacks it. */
export async function shellProgram(shell: Shell): Promise<string> {
  const found = findProgram(shell)
  if (found !== null) return found
  if (!canInstallPackages())
    throw new Error(
      `The shell ${shell} is not on this machine. Install it, or run the tests as root where there is apt-get.`,
    )
  await installPackages(shell)
  const installed = findProgram(shell)
  if (installed === null)
    throw new Error(`The package ${shell} was installed, but holds no program ${shell}.`)
  return installed
}
