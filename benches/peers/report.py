"""The results of a run as text, as a page of the documentation, and as a plot."""
import plot

ISAS = {"maxwell": "Maxwell", "gfx9": "GFX9"}
# Lanes of a warp.
WARP = {"maxwell": 32, "gfx9": 64}
# What the JIT is to be faster than, and by what factor at least.
TWICE = ("compute", "mandelbrot", "nbody", "hash")
FIRST_LAUNCH = 0.020
# More busy cores than this before the run are somebody else's.
BUSY = 0.2
RATIOS = {
    "plain": ("plain loop", lambda name: None),
    "pocl_loop": ("PoCL, loop", lambda name: 2 if name in TWICE else 1),
    "pocl_unrolled": ("PoCL, unrolled", lambda name: None),
    "intel": ("Intel", lambda name: None),
    "by_hand": ("C by hand", lambda name: None),
    "oclgrind": ("Oclgrind", lambda name: 100),
    "interp": ("interpreter", lambda name: None),
    "two_threads": ("2 threads", lambda name: None),
}


def best(pocl):
    return min(pocl.values()) if pocl else None


def ratios(kernel, isa):
    """How many times as long others take as the JIT with one thread; for two threads, how many times as fast these are."""
    target = kernel["targets"][isa]
    jit = target["1"]["seconds"]
    over = lambda seconds, by=jit: seconds and seconds / by
    return {
        "plain": over(kernel["plain"]["plain"]),
        "pocl_loop": over(best(kernel["pocl"]["loop"])),
        "pocl_unrolled": over(best(kernel["pocl"]["unrolled"])),
        "intel": over(kernel.get("intel")),
        "by_hand": over(kernel.get("by_hand")),
        "oclgrind": over(kernel["oclgrind"], target["small"]["seconds"]),
        "interp": over(target["interp"]),
        "two_threads": jit / target["2"]["seconds"],
    }


def first_launch(kernel, isa):
    return kernel["targets"][isa]["1"]["first"]


def missed(kernel, isa):
    """The targets that were missed: name, ratio, what it should be."""
    found = []
    for key, ratio in ratios(kernel, isa).items():
        title, least = RATIOS[key][0], RATIOS[key][1](kernel["name"])
        if least and ratio and ratio < least:
            found.append(f"{title}: {number(ratio)}, to reach {least}")
    if first_launch(kernel, isa) > FIRST_LAUNCH:
        found.append(f"first launch: {first_launch(kernel, isa) * 1e3:.1f} ms, to reach {FIRST_LAUNCH * 1e3:.0f}")
    return found


def number(value):
    """Three figures."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def line(kernel):
    """A kernel in a line, and what it missed."""
    lines = []
    for isa in ISAS:
        cells = [f"{title} {number(ratios(kernel, isa)[key])}" for key, (title, _) in RATIOS.items()]
        lines.append(f"{kernel['name']:18} {isa:8} {', '.join(cells)}, first launch {first_launch(kernel, isa) * 1e3:.1f} ms")
        lines += [f"    MISSED {what}" for what in missed(kernel, isa)]
    return "\n".join(lines + [f"    {problem}" for problem in kernel["problems"]])


def text(results):
    kernels = results["kernels"]
    head = "How many times as long others take as warploom's JIT, one thread (2 threads: how many times as fast they are)"
    rows = [["kernel", *(title for title, _ in RATIOS.values()), "first launch, ms"]]
    for kernel in kernels:
        for isa in ISAS:
            found = ratios(kernel, isa)
            rows.append([f"{kernel['name']} {isa}", *(marked(kernel["name"], key, ratio, "!") for key, ratio in found.items()),
                         f"{first_launch(kernel, isa) * 1e3:.1f}" + ("!" if first_launch(kernel, isa) > FIRST_LAUNCH else "")])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))) for row in rows]
    misses = sum(len(missed(kernel, isa)) for kernel in kernels for isa in ISAS)
    return "\n".join([head, *table, f"{misses} targets missed (!)" if misses else "all targets reached"])


def marked(name, key, ratio, mark):
    least = RATIOS[key][1](name)
    return number(ratio) + (mark if ratio and least and ratio < least else "")


def table(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] + ["---:"] * (len(head) - 1), *rows])


def of_isas(cell):
    """A cell for both instruction sets."""
    return " / ".join(cell(isa) for isa in ISAS)


def markdown(results):
    kernels = results["kernels"]
    ns = lambda kernel, seconds: number(seconds and seconds / kernel["work"] * 1e9)
    one = lambda kernel, isa: kernel["targets"][isa]["1"]
    bold = lambda text, miss: f"**{text}**" if miss else text

    def ratio_cell(kernel, key):
        cell = lambda isa: (lambda ratio: bold(number(ratio), "!" in marked(kernel["name"], key, ratio, "!")))(ratios(kernel, isa)[key])
        return of_isas(cell)

    def first_cell(kernel):
        return of_isas(lambda isa: bold(f"{first_launch(kernel, isa) * 1e3:.1f}", first_launch(kernel, isa) > FIRST_LAUNCH))

    times = table(
        ["kernel", "unit of work", "plain loop", "Maxwell", "GFX9", "PoCL, loop", "PoCL, unrolled"],
        [[k["name"], k["unit"], ns(k, k["plain"]["plain"]), *(ns(k, one(k, isa)["seconds"]) for isa in ISAS),
          ns(k, best(k["pocl"]["loop"])), ns(k, best(k["pocl"]["unrolled"]))] for k in kernels])
    compared = table(
        ["kernel", *(title for title, _ in RATIOS.values())],
        [[k["name"], *(ratio_cell(k, key) for key in RATIOS)] for k in kernels])
    costs = table(
        ["kernel", "lane-instructions, G/s", "host instructions", "calls of helpers", "translation, ms", "first launch, ms",
         "peak memory, MiB"],
        [[k["name"],
          of_isas(lambda isa: number(one(k, isa)["lane_instructions"] / one(k, isa)["seconds"] / 1e9)),
          *(of_isas(lambda isa: number(one(k, isa)[count] / one(k, isa)["instructions"]))
            for count in ("host_instructions", "helper_calls")),
          of_isas(lambda isa: f"{one(k, isa)['translate'] * 1e3:.1f}"), first_cell(k),
          of_isas(lambda isa: f"{one(k, isa)['peak_kib'] / 1024:.0f}")] for k in kernels])
    misses = [f"- {k['name']}, {title}: {'; '.join(found)}" for k in kernels for isa, title in ISAS.items()
              if (found := missed(k, isa))]
    settings = ", ".join(f"{name} {sum(1 for k in kernels for form in k['pocl'].values() if form and min(form, key=form.get) == name)}"
                         for name in ("loopvec", "workitemloops", "cbs"))
    problems = [f"- {k['name']}: {problem}" for k in kernels for problem in k["problems"]]
    growth = grown(results["growth"]) if results["growth"] else ""
    busy = "\n**Other programs were running: these numbers are provisional.**\n" if results["busy"] > BUSY else ""
    return f"""# Measurements

Written by `{results['command']}` on {results['date']}, commit {results['commit']}, on {results['machine']};
others kept {results['busy']:.1f} of them busy when it began. One thread, best of {results['rounds']} medians. [benchmarking.md](benchmarking.md) says what is measured.
{busy}
![Speed of all kernels](benchmarks.svg)

## Time

Nanoseconds for a unit of work.

{times}

## Against others

How many times as long they take as the JIT with one thread, for Maxwell / GFX9; in the last column, how many times as fast two
threads are. A number in bold misses what is to be reached: against PoCL's loops 1, or 2 ({', '.join(TWICE)}), against Oclgrind 100.

{compared}

PoCL's fastest setting was, of the kernels in both forms: {settings}.
{chr(10).join(["", "Not measured:", "", *problems]) if problems else ""}
## Missed

{chr(10).join(misses) if misses else "Nothing."}

## Costs

Of Maxwell / GFX9. The first launch, in a fresh process, with translation, is to take {FIRST_LAUNCH * 1e3:.0f} ms at most. The peak of a process's memory is
taken after it; the process has the launch's buffers twice, and the expected results. Host instructions (of the code) and calls of
helpers are those for one guest instruction, which is for 32 lanes (Maxwell) or 64 (GFX9).

{costs}
{growth}"""


def grown(growth):
    blocks = table(
        ["blocks of 256", *(f"{title}, ns a lane" for title in ISAS.values()), *(f"{title}, us a launch" for title in ISAS.values())],
        [[str(entry["blocks"]), *(number(entry[isa]["seconds"] / (entry["blocks"] * 256) * 1e9) for isa in ISAS),
          *(number(entry[isa]["seconds"] * 1e6) for isa in ISAS)] for entry in growth["blocks"]])
    code = table(
        ["code", "instructions", "translation, ms", "us an instruction", "ns a lane-instruction", "peak memory, MiB"],
        [[entry["name"], *(of_isas(lambda isa: cell(entry[isa], instructions(entry, isa))) for cell in (
            lambda one, count: str(count),
            lambda one, count: f"{one['translate'] * 1e3:.1f}",
            lambda one, count: number(one["translate"] * 1e6 / count),
            lambda one, count: f"{one['seconds'] * 1e9 / one['lane_instructions']:.3f}",
            lambda one, count: f"{one['peak_kib'] / 1024:.0f}"))] for entry in growth["code"]])
    return f"""
## Growth

With the number of blocks: `compute`.

{blocks}

With the size of code: straight lines of it, for Maxwell / GFX9, on 4,096 lanes.

{code}
"""


def instructions(entry, isa):
    """Of a straight line: each warp executes all of them, once."""
    return entry[isa]["instructions"] // (entry["lanes"] // WARP[isa])


def svg(results):
    rows = []
    for kernel in results["kernels"]:
        plain, found = kernel["plain"]["plain"], {isa: ratios(kernel, isa) for isa in ISAS}
        over = lambda seconds: seconds and plain / seconds
        dots = [over(kernel["targets"][isa]["1"]["seconds"]) for isa in ISAS]
        dots += [over(best(kernel["pocl"][form])) for form in ("loop", "unrolled")]
        # Measured at another size, and so related by the JIT for Maxwell.
        simulated = found["maxwell"]["oclgrind"]
        rows.append((kernel["name"], dots + [simulated and dots[0] / simulated]))
    series = [f"warploom, {title}" for title in ISAS.values()] + ["PoCL, loop", "PoCL, unrolled", "Oclgrind"]
    caption = f"{results['machine']}; commit {results['commit']}; {results['date']}; {results['command']}"
    panels = []
    if growth := results["growth"]:
        panels = [
            ("ns a lane, by the number of blocks (compute)",
             {ISAS[isa]: [(entry["blocks"], entry[isa]["seconds"] / (entry["blocks"] * 256) * 1e9) for entry in growth["blocks"]]
              for isa in ISAS}),
            ("translation: us an instruction, by the number of them",
             {ISAS[isa]: [(instructions(e, isa), e[isa]["translate"] * 1e6 / instructions(e, isa)) for e in growth["code"]]
              for isa in ISAS}),
        ]
    return plot.svg("Speed, one thread: times a plain loop's", series, rows, panels, caption)
