/** Removes options that were not given, so that defaults apply. */
export function withoutUndefined<Given extends object>(
  read: {
    readonly [Name in keyof Given]: Given[Name] | undefined
  },
): Given {
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as Given
}
