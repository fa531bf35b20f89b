import { BelfryError } from "../../core/errors.ts"

/** Loads a driver that the program installs. Belfry does not depend on it, so that a program has one version of it. */
export async function loadDriver<Driver>(
  about: { readonly store: string; readonly driver: string },
  load: () => Promise<Driver>,
): Promise<Driver> {
  try {
    return await load()
  } catch (cause) {
    const { store, driver } = about
    throw new BelfryError(
      "BELFRY_STORE_UNFIT",
      `The ${store} store needs the driver ${driver}, which is not installed here.`,
      { cause, remedy: `Install it: npm install ${driver}` },
    )
  }
}
