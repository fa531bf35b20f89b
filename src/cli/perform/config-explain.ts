import { sep } from "node:path"
import { masked } from "../../core/values/address.ts"
import type { Config } from "../files/config.ts"
import type { LoadedConfig } from "../files/config-file.ts"
import { SETTINGS } from "../files/config-settings.ts"
import type { Call } from "../parsing/command.ts"
import { type RowFormat, showAll } from "../printing/output.ts"
import { DEFAULT_STORE } from "../session/open-store.ts"
import { configOf } from "../session/session.ts"

/** A setting with its value and the source of the value. */
interface Setting {
  readonly setting: string
  readonly value: string
  readonly from: string
}

/** Doesn't open the store, so it also works if the store is unavailable. */
export async function explainConfig(call: Call): Promise<undefined> {
  const loaded = await configOf(call)
  const rows = [configRow(call, loaded), storeRow(call, loaded), ...configRows(loaded)]
  await showAll(call, rows, settingRows(call.io.cwd))
  return undefined
}

function configRow({ flags, io }: Call, loaded: LoadedConfig | null): Setting {
  const value = loaded?.path ?? "none"
  const from = flags.isOff("config")
    ? "--no-config"
    : flags.text("config") !== undefined
      ? "--config"
      : (io.env["BELFRY_CONFIG"] ?? "") !== ""
        ? "BELFRY_CONFIG"
        : loaded === null
          ? "none in this folder"
          : "this folder"
  return { setting: "config", value, from }
}

function storeRow({ flags, io }: Call, loaded: LoadedConfig | null): Setting {
  const flag = flags.text("store")
  const env = io.env["BELFRY_STORE"] || undefined
  const configured = loaded?.config.store
  if (flag !== undefined) return { setting: "store", value: masked(flag), from: "--store" }
  if (env !== undefined) return { setting: "store", value: masked(env), from: "BELFRY_STORE" }
  if (configured === undefined) return { setting: "store", value: DEFAULT_STORE, from: "default" }
  const value = typeof configured === "string" ? masked(configured) : "created by its code"
  return { setting: "store", value, from: loaded!.path }
}

function configRows(loaded: LoadedConfig | null): readonly Setting[] {
  const config: Config = loaded?.config ?? {}
  const given = (Object.keys(config) as (keyof Config)[]).filter(
    (name) => name !== "store" && config[name] !== undefined,
  )
  // The flags of `belfry start` take precedence over both.
  const unset = (Object.keys(SETTINGS) as (keyof Config)[]).filter(
    (name) => name !== "store" && SETTINGS[name].defaultText !== null && !given.includes(name),
  )
  return [
    ...given.map((setting) => ({ setting, value: valueWords(setting, config), from: loaded!.path })),
    ...unset.map((setting) => ({ setting, value: SETTINGS[setting].defaultText!, from: "default" })),
  ]
}

/** Only the names, if the values may contain a secret or are code. */
function valueWords(setting: keyof Config, config: Config): string {
  const names: Partial<Record<keyof Config, () => readonly string[]>> = {
    tasks: () => (config.tasks ?? []).map(({ name }) => name),
    schedules: () => (config.schedules ?? []).map(({ id }) => id),
    commands: () => Object.keys(config.commands ?? {}),
    hooks: () => Object.keys(config.hooks ?? {}),
    http: () => Object.keys(config.http ?? {}),
    sql: () => Object.keys(config.sql ?? {}),
    logger: () => ["a logger created by code"],
  }
  const named = names[setting]
  return named === undefined ? JSON.stringify(config[setting]) : named().join(", ") || "none"
}

/** A table shows paths relative to this folder. */
function settingRows(cwd: string): RowFormat<Setting> {
  const here = (text: string) => (text.startsWith(`${cwd}${sep}`) ? text.slice(cwd.length + 1) : text)
  return {
    columns: [
      { header: "SETTING", text: ({ setting }) => setting, paint: () => "bold" },
      { header: "VALUE", text: ({ value }) => value, brief: ({ value }) => here(value), below: "whole" },
      {
        header: "FROM",
        text: ({ from }) => from,
        brief: ({ from }) => here(from),
        paint: ({ from }) => (from === "default" ? "dim" : null),
      },
    ],
    nameOf: ({ setting }) => setting,
  }
}
