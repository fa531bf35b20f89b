import { sep } from "node:path"
import type { Config } from "../../config.ts"
import { masked } from "../../core/address.ts"
import type { LoadedConfig } from "../files/config-file.ts"
import { SETTINGS } from "../files/config-settings.ts"
import type { Call } from "../parsing/command.ts"
import { type Shown, showAll } from "../printing/output.ts"
import { DEFAULT_STORE } from "../session/open-store.ts"
import { configOf } from "../session/session.ts"

/** One setting: what it is, and what said so. */
interface Setting {
  readonly setting: string
  readonly value: string
  readonly from: string
}

/** Nothing is opened: it also helps where the store can't be. */
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
          ? "there is none in this folder"
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
  const value = typeof configured === "string" ? masked(configured) : "made by its code"
  return { setting: "store", value, from: loaded!.path }
}

function configRows(loaded: LoadedConfig | null): readonly Setting[] {
  const config: Config = loaded?.config ?? {}
  const said = (Object.keys(config) as (keyof Config)[]).filter(
    (name) => name !== "store" && config[name] !== undefined,
  )
  // Flags of `belfry start` come before both.
  const silent = (Object.keys(SETTINGS) as (keyof Config)[]).filter(
    (name) => name !== "store" && SETTINGS[name].usual !== null && !said.includes(name),
  )
  return [
    ...said.map((setting) => ({ setting, value: valueWords(setting, config), from: loaded!.path })),
    ...silent.map((setting) => ({ setting, value: SETTINGS[setting].usual!, from: "default" })),
  ]
}

/** Names only, where a value may hold a secret or is code. */
function valueWords(setting: keyof Config, config: Config): string {
  const names: Partial<Record<keyof Config, () => readonly string[]>> = {
    tasks: () => (config.tasks ?? []).map(({ name }) => name),
    schedules: () => (config.schedules ?? []).map(({ id }) => id),
    commands: () => Object.keys(config.commands ?? {}),
    hooks: () => Object.keys(config.hooks ?? {}),
    http: () => Object.keys(config.http ?? {}),
    sql: () => Object.keys(config.sql ?? {}),
    logger: () => ["its own"],
  }
  const named = names[setting]
  return named === undefined ? JSON.stringify(config[setting]) : named().join(", ") || "none"
}

/** People get the path of a file in this folder without the folder. */
function settingRows(cwd: string): Shown<Setting> {
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
