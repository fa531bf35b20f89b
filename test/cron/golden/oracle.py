#!/usr/bin/env python3
"""Independent oracle for Belfry's cron engine: writes dst.json, calendar.json and previous.json next to itself.
Brute force on purpose. Rules: README.md. Usage: python3 test/cron/golden/oracle.py [--check] (--check: no writing)."""
import calendar, json, os, random, subprocess, sys, time
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

HERE = os.path.dirname(os.path.abspath(__file__))
HOUR, DAY, EPOCH, rnd = 3600, 86400, date(1970, 1, 1).toordinal(), random.Random(20260329)
DOWS, MONTHS = "SUN MON TUE WED THU FRI SAT".split(), "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
NAMES = {**{n: i for i, n in enumerate(DOWS)}, **{n: i + 1 for i, n in enumerate(MONTHS)}}
MACROS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}
ZONES = """Europe/Berlin Europe/London Europe/Dublin Europe/Lisbon Europe/Istanbul Europe/Moscow Europe/Volgograd America/New_York America/Los_Angeles America/St_Johns
America/Havana America/Sao_Paulo America/Asuncion America/Santiago America/Caracas America/Scoresbysund America/Anchorage America/Nuuk America/Mexico_City America/Bogota
Atlantic/Azores Atlantic/Stanley Africa/Cairo Africa/Casablanca Africa/El_Aaiun Africa/Monrovia Africa/Juba Africa/Windhoek Asia/Tehran Asia/Kolkata Asia/Kathmandu
Asia/Gaza Asia/Beirut Asia/Amman Asia/Pyongyang Asia/Kabul Asia/Almaty Asia/Dhaka Asia/Manila Asia/Singapore Asia/Jerusalem Asia/Colombo Australia/Lord_Howe
Australia/Sydney Australia/Adelaide Australia/Eucla Pacific/Apia Pacific/Chatham Pacific/Kwajalein Pacific/Kiritimati Pacific/Kanton Pacific/Fakaofo Pacific/Easter
Pacific/Norfolk Pacific/Tongatapu Pacific/Fiji Pacific/Auckland Antarctica/Troll Antarctica/Casey Antarctica/Macquarie Antarctica/Vostok Antarctica/Davis UTC Etc/GMT+12""".split()
# Rules changed lately (or are announced year by year): nothing after 2025-01-01 is used for these.
VOLATILE = set("""Africa/Cairo Africa/Casablanca Africa/El_Aaiun Africa/Juba America/Asuncion America/Mexico_City America/Nuuk America/Scoresbysund America/Havana America/Santiago
Pacific/Easter Pacific/Fiji Asia/Almaty Asia/Amman Asia/Beirut Asia/Gaza Asia/Manila Asia/Tehran Europe/Volgograd Antarctica/Casey Antarctica/Davis Antarctica/Vostok""".split())

# ---- expressions
class Job:
    def __init__(self, text):
        f = MACROS.get(text, text).upper().split()
        sec, minute, hour, self.dom, month, dow = f if len(f) == 6 else ["0"] + f
        self.both, self.dow = dow.startswith("+"), dow.lstrip("+")
        self.wild = minute[0] == "*" or hour[0] == "*"
        self.secs, self.mins, self.hours = numbers(sec, 0, 59), numbers(minute, 0, 59), numbers(hour, 0, 23)
        self.months, self.days = numbers(month, 1, 12), {}
    def day_ok(self, d):
        if d.month not in self.months: return False
        if d not in self.days:
            dom, dow = any(dom_item(i, d) for i in self.dom.split(",")), any(dow_item(i, d) for i in self.dow.split(","))
            either = dow if self.dom in "*?" else dom if self.dow in "*?" else dom or dow
            self.days[d] = dom and dow if self.both else either
        return self.days[d]
    def match(self, w):  # w: naive datetime
        return w.second in self.secs and w.minute in self.mins and w.hour in self.hours and self.day_ok(w.date())
    def walls(self, lo, hi):  # matching wall times (as if UTC seconds) in [lo, hi)
        for n in range(lo // DAY, hi // DAY + 1):
            if not self.day_ok(date.fromordinal(EPOCH + n)): continue
            for h in self.hours:
                base = n * DAY + h * HOUR
                if base + HOUR <= lo or base >= hi: continue
                for m in self.mins:
                    for s in self.secs:
                        if lo <= base + m * 60 + s < hi: yield base + m * 60 + s

def numbers(text, lo, hi):
    out = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        if span in "*?": a, b = lo, hi
        else:
            a, _, b = span.partition("-")
            end = str(6 if hi == 7 and a != "7" else hi) if step else a  # weekdays by steps end on Saturday
            a, b = (NAMES[x] if x in NAMES else int(x) for x in (a, b or end))
            if hi == 7 and b == 0 and a > 0: b = 7  # FRI-SUN
        assert lo <= a <= b <= hi, text
        out.update(range(a, b + 1, int(step or 1)))
    return sorted(out)

def last_of(d): return calendar.monthrange(d.year, d.month)[1]
def workday(d): return d.isoweekday() <= 5

def dom_item(item, d):
    last = last_of(d)
    if item == "L": return d.day == last
    if item == "LW": return workday(d) and not any(workday(d.replace(day=n)) for n in range(d.day + 1, last + 1))
    if item.startswith("L-"): return d.day == last - int(item[2:])
    if item.endswith("W"):
        n = int(item[:-1])
        if n > last: return False
        options = [x for x in range(1, last + 1) if workday(d.replace(day=x))]
        return d.day == min(options, key=lambda x: abs(x - n))
    return d.day in numbers(item, 1, 31)

def dow_item(item, d):
    if item.endswith("L"): return dow_item(item[:-1], d) and d.day + 7 > last_of(d)
    if "#" in item: return dow_item(item.split("#")[0], d) and (d.day + 6) // 7 == int(item.split("#")[1])
    return d.isoweekday() % 7 in {x % 7 for x in numbers(item, 0, 7)}

# ---- zones
SEGS = {}
def offset(tz, t): return int(datetime.fromtimestamp(t, ZoneInfo(tz)).utcoffset().total_seconds())

def segments(tz):
    """[(start, end, offset)] found by looking at the clock every six hours, then bisecting."""
    if tz not in SEGS:
        out, start, t, stop = [], -10**11, -2 * 366 * DAY, 0 if tz == "UTC" else 70 * 366 * DAY
        while t < stop:
            a, b = t, t + 6 * HOUR
            if offset(tz, a) != offset(tz, b):
                while b - a > 1:
                    mid = (a + b) // 2
                    a, b = (a, mid) if offset(tz, mid) != offset(tz, t) else (mid, b)
                out, start = out + [(start, b, offset(tz, a))], b
            t += 6 * HOUR
        SEGS[tz] = out + [(start, 10**11, offset(tz, stop))]
    return SEGS[tz]

def ask_node(probes):  # {tz: [instants]} -> {tz: [Node's offsets]}
    js = """const p=JSON.parse(require('fs').readFileSync(0,'utf8')),o={};for(const z in p){const f=new Intl.DateTimeFormat('en-US',
    {timeZone:z,hourCycle:'h23',year:'numeric',month:'numeric',day:'numeric',hour:'numeric',minute:'numeric',second:'numeric'});
    o[z]=p[z].map(t=>{const q={};for(const x of f.formatToParts(t*1e3))q[x.type]=+x.value;
    return Date.UTC(q.year,q.month-1,q.day,q.hour,q.minute,q.second)/1e3-t})}console.log(JSON.stringify(o))"""
    return json.loads(subprocess.run(["node", "-e", js], input=json.dumps(probes), capture_output=True, text=True, check=True).stdout)

# ---- firing instants
def fires(job, tz, lo, hi, gap="after", overlap="first"):
    """Every firing instant t, lo <= t < hi."""
    near = [s for s in segments(tz) if s[1] > lo - 4 * DAY and s[0] < hi + 4 * DAY]
    if job.wild:
        return sorted(w - o for a, b, o in near for w in job.walls(max(a, lo) + o, min(b, hi) + o) if max(a, lo) < min(b, hi))
    out, offs = set(), [o for _, _, o in near]
    for w in job.walls(lo + min(offs) - 30 * HOUR, hi + max(offs) + 30 * HOUR):  # generous: a gap may span a day
        seen = sorted(w - o for a, b, o in near if a <= w - o < b)
        if seen: out.update({"first": seen[:1], "second": seen[-1:], "both": seen}[overlap])
        elif gap == "after" and any(a + o < w // DAY * DAY + DAY and b + o > w // DAY * DAY for a, b, o in near):  # its day exists
            out.add(min(a for a, _, o in near if a + o > w))
    return sorted(t for t in out if lo <= t < hi)

def scan(job, tz, lo, hi, gap, overlap):
    """The same by definition: read the clock at every second of [lo, hi). Slow; used to check fires()."""
    zi, seen, top, jumps, days = ZoneInfo(tz), defaultdict(list), None, [], set()
    for t in range(lo, hi):
        w = datetime.fromtimestamp(t, zi).replace(tzinfo=None)
        if top and w - top > timedelta(seconds=1): jumps.append((t, top, w))
        top = max(top or w, w)  # the largest wall time ever reached
        days.add(w.date())
        if job.match(w): seen[w].append(t)
    if job.wild: return sorted(t for ts in seen.values() for t in ts)
    out = {t for ts in seen.values() for t in {"first": ts[:1], "second": ts[-1:], "both": ts}[overlap]}
    for t, a, b in jumps if gap == "after" else []:
        skipped = (a + timedelta(seconds=i) for i in range(1, int((b - a).total_seconds())))
        if any(w.date() in days and job.match(w) for w in skipped): out.add(t)
    return sorted(out)

def successive(job, tz, at, way, policy, n=3, limit=45 * 365 * DAY):
    """n firings strictly after (way=1: from the first whole second past at) or strictly before at (way=-1)."""
    out, pos, width, last = [], at, HOUR, at
    while len(out) < n:
        a, b = (pos, pos + width) if way > 0 else (pos - width, pos)
        found = fires(job, tz, a, b, **policy)
        out += found if way > 0 else found[::-1]
        pos, width = (b if way > 0 else a), min(width * 4, 400 * DAY)
        last = out[-1] if out else last
        if abs(pos - last) > limit or not -DAY < pos < 9 * 10**9: return None
    return out[:n]

def iso(t, ms=0): return datetime.fromtimestamp(t, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + (f".{ms:03d}Z" if ms else "Z")
def utc(*a): return int(datetime(*a, tzinfo=timezone.utc).timestamp())

# ---- cases
BAD, NOTES, KNOWN = defaultdict(list), Counter(), set()
END, CUT = utc(2037, 12, 1), utc(2025, 1, 1)

def case(cron, tz, at, ms, way, policy):
    """One line of a golden file, or None when it leaves the period or hits an instant Node sees differently."""
    start = at + 1 if way > 0 or ms else at  # first second strictly after `at`.ms / exclusive bound for going back
    got = successive(Job(cron), tz, start, way, policy)
    row = {"cron": cron, "tz": tz, **policy, "after" if way > 0 else "before": iso(at, ms)}
    key = json.dumps(row)
    if not got or key in KNOWN: NOTES["dropped: no three firings in reach, or a repeat"] += 1; return None
    a, b = min(got + [at]), max(got + [at])
    if a < 3 * DAY or tz != "UTC" and b > (CUT - 5 * DAY if tz in VOLATILE else END): NOTES["dropped: outside the period"] += 1; return None
    if any(a - 4 * DAY < p < b + 4 * DAY for p in BAD[tz]): NOTES["dropped: Node disagrees"] += 1; return None
    KNOWN.add(key)
    row["next" if way > 0 else "previous"] = [iso(t) for t in got]
    return row

def pick_transitions():
    """Up to ten transitions a zone: the odd ones (rare size or rare time of day) first, after comparing with Node."""
    probes = {tz: sorted({x for a, _, _ in segments(tz)[1:] for x in (a - 1, a) if 0 < a < END} | set(range(DAY, END, 5 * DAY))) for tz in ZONES}
    node, out = ask_node(probes), []
    for tz in ZONES:
        BAD[tz] = [t for t, o in zip(probes[tz], node[tz]) if o != offset(tz, t)]
        segs, pool = segments(tz), []
        for (_, _, o1), (t, _, o2) in zip(segs, segs[1:]):
            if not 10 * DAY < t < END or o1 == o2 or (tz in VOLATILE and t > CUT): continue
            if t in BAD[tz] or t - 1 in BAD[tz]: NOTES["transitions dropped: Node disagrees"] += 1
            else: pool.append((tz, t, o1, o2))
        kind = Counter((o2 - o1, (t + o1) % DAY) for _, t, o1, o2 in pool)
        rnd.shuffle(pool)
        pool.sort(key=lambda x: kind[x[3] - x[2], (x[1] + x[2]) % DAY] > 2)
        out += pool[:10] if len(pool) < 10 else pool[:6] + rnd.sample(pool[6:], 4)
    NOTES["transitions used"] = len(out)
    return out

def dst_cron(t, o1, o2):
    """An expression whose times lie before, in or after the skipped or repeated stretch of wall time."""
    lo, hi = t + min(o1, o2), t + max(o1, o2)
    w = rnd.choice([rnd.randrange(lo, hi)] * 5 + [lo, lo, hi, hi, lo - 60, hi - 60, rnd.randrange(lo - 2 * HOUR, lo), rnd.randrange(hi, hi + 2 * HOUR)])
    d = datetime.fromtimestamp(w, timezone.utc)
    h, dow, c = d.hour, d.isoweekday() % 7, rnd.choice
    m = d.minute if rnd.random() < .4 else d.minute // 15 * 15
    h2, m2 = rnd.randrange(24), rnd.randrange(60)
    near = sorted({max(h - 1, 0), h, min(h + 1, 23)})
    minute = c([m] * 4 + [f"{min(m, m2)},{max(m, m2)}", "0,30", "0,15,30,45", f"{m}-59", f"0-{m}", f"0-{m}/5", f"{m % 20}/20", "0/30", "5-55/10"])
    hour = c([h] * 6 + [f"{near[0]}-{near[-1]}", ",".join(map(str, near)), f"{h}/6", "0-23", "0-23/2", f"{min(h, h2)},{max(h, h2)}", "1-3", f"{h % 2}/2"])
    if rnd.random() < .2:  # wildcard
        minute, hour = c([("*/30", h), ("*/15", hour), ("*", h), ("*/7", "*"), ("*", "*"), (m, "*"), (minute, "*/2"), (m, "*/3"), ("*/20", "*/2"), (minute, "*"), (m, "*/1")])
    days = c(["* * *"] * 9 + [f"{d.day} * *", f"{d.day} {d.month} *", f"* * {dow}", f"* {d.month} {dow}L", f"* {MONTHS[d.month - 1]} {DOWS[dow]}#{(d.day + 6) // 7}", f"? * {DOWS[dow]}",
              f"{d.day} * {(dow + 2) % 7}", f"*/2 * {dow}", f"1-15 * +{DOWS[dow]}", f"16-31 * +{dow}", "L * *", "1 * ?", "* * 1-5", f"{d.day}W * *", "LW * *", f"{d.day}/1 {d.month} *"])
    if rnd.random() < .04: return c(["@hourly", "@daily", "@midnight", "@weekly", "@monthly"])
    second = c(["0 ", f"{m2} ", "*/20 ", "0,59 ", "10-12 ", "*/15 ", "30/10 "]) if rnd.random() < .2 else ""
    return f"{second}{minute} {hour} {days}"

def dst_case(tr, way):
    tz, t, o1, o2 = tr
    size, c, row = abs(o2 - o1), rnd.choice, None
    picky = rnd.random() < .65  # want a case whose answer depends on a policy, or a wildcard next to the transition
    for _ in range(12 if picky else 1):
        cron, policy = dst_cron(t, o1, o2), {}
        if rnd.random() < (.45 if o2 > o1 else .1): policy["gap"] = c(["skip", "skip", "after"])
        if rnd.random() < (.55 if o2 < o1 else .1): policy["overlap"] = c(["second", "both", "first"])
        delta = c([0, -1, 1, -60, size, size - 1, -size, size // 2, -size // 2, rnd.randrange(-3 * HOUR, 3 * HOUR), rnd.randrange(-DAY, DAY), DAY, 2 * DAY])
        at, ms, job = t + delta - (way * 2 * HOUR if rnd.random() < .65 else 0), c([1, 500, 999]) if rnd.random() < .1 else 0, Job(cron)
        if picky and not (abs(at - t) < 3 * HOUR + size if job.wild else telling(job, tz, at + (way > 0 or ms > 0), way)): continue
        row = case(cron, tz, at, ms, way, policy)
        if row: break
    return row

def telling(job, tz, start, way):  # does a policy change the answer?
    policies = [{"gap": "after", "overlap": "first"}, {"gap": "skip", "overlap": "second"}, {"gap": "after", "overlap": "both"}]
    return len({str(successive(job, tz, start, way, p)) for p in policies}) > 1

DOM = """* ? 1 15 28 29 30 31 1,15 29-31 28,29,30,31 L L L-1 L-2 L-3 L-7 L-27 L-28 L-29 L-30 LW LW 1W 1W 2W 3W 15W 15W 14W 16W 28W 29W 30W 31W 31W
1W,15W 1,L 15,LW L,L-1 */2 */5 */10 1/10 5/7 1-7 8-14 15-21 1-31 1-31/3 10-20/5 20/1 13 31,1 1,15,LW""".split()
DOW = """* * ? 0 7 1 5 6 MON fri Sun 1-5 MON-FRI mon-fri FRI-SUN 5-7 SAT,SUN 0,6 6-7 1/2 2/2 0/3 5/1 */2 */3 1-5/2 5-7/2 MON-FRI/2 MON,WED,FRI Tue,Thu 0-6 0-7
1L 5L FRIL 0L 7L SUNL satL 5#3 FRI#3 1#1 MON#1 7#5 0#5 SUN#2 5#5 3#5 wed#4 6#1 1#1,1#3 MON#1,FRIL TUE,5L""".split()
MON = "* * * * * * 2 2 FEB feb 1 12 DEC 4,6,9,11 */2 */3 */5 1/3 2/5 1-3 JAN-MAR Apr-Sep 6-12/2 FEB-APR jan,JUL 11-12 2-12/5 1,3,5,7,8,10,12".split()
TIMES = """0 0|0 12|30 9|59 23|0 0,12|*/30 23|15 */8|0 6-18/6|5/25 8|0,30 0|* 3|*/7 *|0 *|58-59 23|0 9-17|10 1/7|0 22/1|20-40/10 4,16
0 0 0|59 59 23|*/30 0 0|15,45 30 6|10-12 0 12|0/20 59 23|*/25 */20 */6|7 7 7|* * 0|50/3 59 *""".replace("\n", "|").split("|")
ONCE = "0 0|30 9|59 23|0 12|0 0 0|59 59 23|7 7 7".split("|")
SPECIAL = """0 0 29 2 *|0 0 29 2 +MON|0 12 29 FEB +SUN|0 0 29 2 MON|0 0 31 * *|0 0 30 * *|0 0 L 2 *|0 0 29W 2 *|0 0 LW 2 *|59 59 23 31 12 *|59 59 23 L * *|0 0 1 1 *
0 0 1-7 * +MON|0 0 13 * FRI|0 0 13 * +FRI|0 0 L * +FRI|0 0 L * FRI|0 0 1 1 +SUN|0 0 */2 * MON|0 0 */2 * +MON|0 0 1-31 * MON|0 0 13 * 0-6|0 0 25 12 +SAT|0 0 L-1 2 *|0 0 L-28 2 *
0 0 31W * *|0 0 30W 2,4 *|0 0 15W * +MON|0 0 * 2 5#5|0 0 ? 2 SUN#5|0 0 LW * +FRIL|0 0 ? * ?|0 0 * * ?|0 0 ? * 1/2|@weekly|@monthly|@yearly|@annually|@daily|@midnight|@hourly""".replace("\n", "|").split("|")
CAL_ZONES = "Europe/Berlin America/New_York Asia/Tokyo Asia/Kathmandu Australia/Sydney Pacific/Chatham Asia/Kolkata America/St_Johns Etc/GMT+12".split()

def calendar_case(way):
    tz = "UTC" if rnd.random() < .65 else rnd.choice(CAL_ZONES)
    c, dow = rnd.choice, rnd.choice(DOW)
    if dow not in "*?" and rnd.random() < .3: dow = "+" + dow
    cron = c(SPECIAL) if rnd.random() < .15 else f"{c(TIMES if rnd.random() < .5 else ONCE)} {c(DOM)} {c(MON)} {dow}"
    mth, y = rnd.randrange(1, 13), c([rnd.randrange(1990, 2035), c([1999, 2000, 2023, 2024, 2027, 2028])] + ([c([2096, 2097, 2099, 2100, 2103, 2104])] if tz == "UTC" else []))
    spot = c([utc(y, mth, 1), utc(y, 3, 1), utc(y, 1, 1), utc(y, mth, 1) + rnd.randrange(31) * DAY]) - offset(tz, utc(min(y, 2036), mth, 1))
    at = spot + c([0, 0, -1, 1, -60, 60, -DAY, DAY, rnd.randrange(-2 * DAY, 2 * DAY), 12 * HOUR])
    return case(cron, tz, at, c([1, 500, 999]) if rnd.random() < .05 else 0, way, {})

def self_check(transitions):
    def ask(cron, tz, at, n=2, way=1, **policy):
        t = int(datetime.fromisoformat(at).replace(tzinfo=timezone.utc).timestamp())
        return " ".join(iso(x)[:16] for x in successive(Job(cron), tz, t + (way > 0), way, policy, n))
    B = "Europe/Berlin"
    assert ask("30 2 * * *", B, "2026-03-28T12:00") == "2026-03-29T01:00 2026-03-30T00:30"
    assert ask("30 2 * * *", B, "2026-03-28T12:00", gap="skip") == "2026-03-30T00:30 2026-03-31T00:30"
    assert ask("30 2,3 * * *", B, "2026-03-28T12:00", 3) == "2026-03-29T01:00 2026-03-29T01:30 2026-03-30T00:30"
    assert ask("0 2,3 * * *", B, "2026-03-28T12:00", 2) == "2026-03-29T01:00 2026-03-30T00:00"
    assert ask("*/30 2 * * *", B, "2026-03-28T12:00", 1) == "2026-03-30T00:00"
    assert ask("30 2 * * *", B, "2026-10-24T12:00") == "2026-10-25T00:30 2026-10-26T01:30"
    assert ask("30 2 * * *", B, "2026-10-24T12:00", overlap="second") == "2026-10-25T01:30 2026-10-26T01:30"
    assert ask("30 2 * * *", B, "2026-10-24T12:00", overlap="both") == "2026-10-25T00:30 2026-10-25T01:30"
    assert ask("30 * * * *", B, "2026-10-25T00:00", 3) == "2026-10-25T00:30 2026-10-25T01:30 2026-10-25T02:30"
    assert ask("30 2 * * *", B, "2026-03-30T00:30", way=-1) == "2026-03-29T01:00 2026-03-28T01:30"
    assert ask("0 12 30 12 *", "Pacific/Apia", "2011-12-01", 1) == "2012-12-29T22:00"
    assert ask("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00", 1) == "2018-11-04T03:00"
    assert ask("0 12 30 12 *", "Pacific/Apia", "2011-12-01", 1, gap="skip") == "2012-12-29T22:00"
    assert ask("0 0 29 2 *", "UTC", "2096-03-01") == "2104-02-29T00:00 2108-02-29T00:00"
    assert ask("0 0 1W 8 *", "UTC", "2026-01-01", 1) == "2026-08-03T00:00"
    assert ask("0 0 31W * *", "UTC", "2026-05-01") == "2026-05-29T00:00 2026-07-31T00:00"
    assert ask("0 0 LW * *", "UTC", "2026-02-01") == "2026-02-27T00:00 2026-03-31T00:00"
    assert ask("0 0 13 * +FRI", "UTC", "2026-01-01", 3) == "2026-02-13T00:00 2026-03-13T00:00 2026-11-13T00:00"
    assert ask("0 0 13 * FRI", "UTC", "2026-01-01", 3) == "2026-01-02T00:00 2026-01-09T00:00 2026-01-13T00:00"
    assert ask("0 0 ? * 1/2", "UTC", "2026-01-03", 3) == "2026-01-05T00:00 2026-01-07T00:00 2026-01-09T00:00"
    for tz, t, o1, o2 in [x for x in transitions if abs(x[3] - x[2]) > 4 * HOUR] + rnd.sample(transitions, 40):  # the slow literal reading agrees
        cron, policy = dst_cron(t, o1, o2), {"gap": rnd.choice(["after", "skip"]), "overlap": rnd.choice(["first", "second", "both"])}
        span = 60 * HOUR if abs(o2 - o1) > 4 * HOUR else 12 * HOUR
        want = [x for x in scan(Job(cron), tz, t - span, t + span, **policy) if abs(x - t) <= span // 2]
        assert want == fires(Job(cron), tz, t - span // 2, t + span // 2 + 1, **policy), (cron, tz, iso(t), policy)
        NOTES["scan checks passed"] += 1

def fill(n, make):
    out = []
    while len(out) < n: out += filter(None, [make()])
    return out

def main():
    began, transitions = time.time(), pick_transitions()
    self_check(transitions)
    if "--check" in sys.argv: return print(dict(NOTES))
    jobs = {"dst": lambda: [r for tr in transitions for r in fill(13 if abs(tr[3] - tr[2]) <= 2 * HOUR else 30, lambda: dst_case(tr, 1))], "calendar": lambda: fill(3600, lambda: calendar_case(1)),
            "previous": lambda: [r for tr in transitions for r in fill(3, lambda: dst_case(tr, -1))] + fill(900, lambda: calendar_case(-1))}
    for name, make in jobs.items():
        rows = make()
        with open(os.path.join(HERE, name + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]\n")
        print(f"{name}.json: {len(rows)} cases, {len({r['tz'] for r in rows})} zones, {time.time() - began:.0f}s")
    print(dict(NOTES))

if __name__ == "__main__": main()
