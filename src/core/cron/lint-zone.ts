import type { Lint } from "./lint.ts"

/**
 * L09: zone names that are outdated, ambiguous or easily misread.
 * It uses a table, not `Intl`: some runtimes call Asia/Kolkata by its old name and others don't.
 */
export function lintZone(name: string): Lint | null {
  const current = CURRENT_NAMES.get(name.toUpperCase())
  if (current !== undefined) return lintOldName(name, current)
  const fixed = /^Etc\/GMT([+-])(\d{1,2})$/i.exec(name)
  return fixed === null
    ? null
    : lintFixedOffset(name, fixed[1] === "+" ? "behind" : "ahead of", Number(fixed[2]))
}

function lintOldName(name: string, current: string): Lint {
  const isAbbreviation = ABBREVIATION.test(name)
  const message = isAbbreviation
    ? `Time zone "${name}" is an ambiguous abbreviation. Belfry reads it as ${current}. Use the name of a place.`
    : `Time zone "${name}" is an old name of ${current}.`
  return { code: "L09", severity: "warn", message, fix: { option: "timezone", value: current } }
}

function lintFixedOffset(name: string, direction: string, hours: number): Lint {
  return {
    code: "L09",
    severity: "warn",
    message: `Time zone "${name}" is ${hours} h ${direction} UTC all year (its sign is inverted) and has no summer time. To follow local time, use the name of a place.`,
  }
}

const ABBREVIATION = /^([CEMW]ET|[CEHMP]ST(\d[CEMP]DT)?|(etc\/)?(GMT|UCT)([+-]?0)?)$/i

/**
 * Links of the tz database that are old spellings, countries or abbreviations, each after the current name with the same
 * clock. A place that only shares the history of another (Europe/Amsterdam) is a good name and is not listed.
 */
const OLD_NAMES = `
  UTC = GMT GMT0 GMT+0 GMT-0 Greenwich UCT Universal Zulu Etc/GMT Etc/GMT0 Etc/GMT+0 Etc/GMT-0 Etc/Greenwich Etc/UCT Etc/Universal Etc/Zulu
  America/Panama = EST
  America/Phoenix = MST US/Arizona
  Pacific/Honolulu = HST US/Hawaii Pacific/Johnston
  America/New_York = EST5EDT US/Eastern
  America/Chicago = CST6CDT US/Central
  America/Denver = MST7MDT US/Mountain Navajo America/Shiprock
  America/Los_Angeles = PST8PDT US/Pacific
  America/Anchorage = US/Alaska
  America/Adak = US/Aleutian America/Atka
  America/Detroit = US/Michigan
  America/Indiana/Indianapolis = US/East-Indiana America/Indianapolis America/Fort_Wayne
  America/Indiana/Knox = US/Indiana-Starke America/Knox_IN
  America/Kentucky/Louisville = America/Louisville
  Pacific/Pago_Pago = US/Samoa Pacific/Samoa
  Europe/Brussels = CET MET
  Europe/Athens = EET
  Europe/Lisbon = WET Portugal
  America/Halifax = Canada/Atlantic
  America/Winnipeg = Canada/Central
  America/Toronto = Canada/Eastern America/Montreal
  America/Edmonton = Canada/Mountain
  America/St_Johns = Canada/Newfoundland
  America/Vancouver = Canada/Pacific
  America/Regina = Canada/Saskatchewan
  America/Whitehorse = Canada/Yukon
  America/Tijuana = Mexico/BajaNorte America/Ensenada America/Santa_Isabel
  America/Mazatlan = Mexico/BajaSur
  America/Mexico_City = Mexico/General
  America/Rio_Branco = Brazil/Acre America/Porto_Acre
  America/Noronha = Brazil/DeNoronha
  America/Sao_Paulo = Brazil/East
  America/Manaus = Brazil/West
  America/Santiago = Chile/Continental
  Pacific/Easter = Chile/EasterIsland
  America/Argentina/Buenos_Aires = America/Buenos_Aires
  America/Argentina/Catamarca = America/Catamarca America/Argentina/ComodRivadavia
  America/Argentina/Cordoba = America/Cordoba America/Rosario
  America/Argentina/Jujuy = America/Jujuy
  America/Argentina/Mendoza = America/Mendoza
  America/Havana = Cuba
  America/Jamaica = Jamaica
  America/Nuuk = America/Godthab
  America/Atikokan = America/Coral_Harbour
  America/St_Thomas = America/Virgin
  Africa/Cairo = Egypt
  Africa/Tripoli = Libya
  Africa/Asmara = Africa/Asmera
  Atlantic/Reykjavik = Iceland
  Atlantic/Faroe = Atlantic/Faeroe
  Europe/London = GB GB-Eire Europe/Belfast
  Europe/Dublin = Eire
  Europe/Warsaw = Poland
  Europe/Istanbul = Turkey Asia/Istanbul
  Europe/Moscow = W-SU
  Europe/Kyiv = Europe/Kiev Europe/Uzhgorod Europe/Zaporozhye
  Europe/Chisinau = Europe/Tiraspol
  Asia/Nicosia = Europe/Nicosia
  Asia/Jerusalem = Israel Asia/Tel_Aviv
  Asia/Tehran = Iran
  Asia/Hong_Kong = Hongkong
  Asia/Tokyo = Japan
  Asia/Shanghai = PRC Asia/Chongqing Asia/Chungking Asia/Harbin
  Asia/Urumqi = Asia/Kashgar
  Asia/Taipei = ROC
  Asia/Seoul = ROK
  Asia/Singapore = Singapore
  Asia/Kolkata = Asia/Calcutta
  Asia/Kathmandu = Asia/Katmandu
  Asia/Yangon = Asia/Rangoon
  Asia/Ho_Chi_Minh = Asia/Saigon
  Asia/Ashgabat = Asia/Ashkhabad
  Asia/Dhaka = Asia/Dacca
  Asia/Macau = Asia/Macao
  Asia/Thimphu = Asia/Thimbu
  Asia/Makassar = Asia/Ujung_Pandang
  Asia/Ulaanbaatar = Asia/Ulan_Bator
  Australia/Sydney = Australia/ACT Australia/NSW Australia/Canberra
  Australia/Lord_Howe = Australia/LHI
  Australia/Darwin = Australia/North
  Australia/Brisbane = Australia/Queensland
  Australia/Adelaide = Australia/South
  Australia/Hobart = Australia/Tasmania
  Australia/Melbourne = Australia/Victoria
  Australia/Perth = Australia/West
  Australia/Broken_Hill = Australia/Yancowinna
  Pacific/Auckland = NZ
  Pacific/Chatham = NZ-CHAT
  Pacific/Kwajalein = Kwajalein
  Pacific/Kanton = Pacific/Enderbury
  Pacific/Chuuk = Pacific/Truk
  Pacific/Pohnpei = Pacific/Ponape
`

/** The current name for each old name. Keys are in capitals because zones are accepted in any case. */
export const CURRENT_NAMES: ReadonlyMap<string, string> = new Map(
  OLD_NAMES.trim()
    .split("\n")
    .flatMap((line) => {
      const [current, old] = line.trim().split(" = ") as [string, string]
      return old.split(" ").map((name) => [name.toUpperCase(), current] as const)
    }),
)
