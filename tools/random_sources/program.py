"""One random program in C++: a kernel for CUDA, HIP and OpenCL, and the same for the host, lane by lane.

Lanes have a state each (`State`), which phases change, one after the other: phases in which lanes write their own words of shared
memory, read those of others, count in it, or exchange registers within 32 lanes. Barriers are between phases, so that the host
may take the lanes of a phase in any order. What an operation means is in prelude.h.
"""
import math
import random

WIDTH = {"u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64, "f16": 16, "f32": 32, "f64": 64}
FLOATS = ("f16", "f32", "f64")
OFTEN = {"u8": 1, "i8": 1, "u16": 1, "i16": 1, "u32": 6, "i32": 5, "u64": 3, "i64": 3, "f16": 1, "f32": 4, "f64": 2}
STATE = {"u32": 3, "i32": 3, "u64": 2, "i64": 1, "u16": 1, "i16": 1, "u8": 1, "i8": 1, "f32": 3, "f64": 2, "f16": 2}
WORD = {"f16": "u16", "f32": "u32", "f64": "u64"}
# Bytes of the input, and of what a lane has to itself in memory: from where on it holds which type.
INPUT = 4096
OWN, OWN_BYTES, OWN_PART = {"u8": 0, "u16": 16, "u32": 32, "f32": 48, "u64": 64, "f16": 80}, 96, 16
SHARED = ("u32", "i32", "u64", "f32")
COUNTERS = 16
# Operations a phase may come to, by the bounds of its loops.
PHASE_COST = 1500

UNARY = {"float": ["neg", "root", "down", "up", "toward_zero", "nearest", "absolute", "unit", "seen"],
         "int": ["neg", "complement", "absolute"]}
BINARY = {"float": ["add", "add", "sub", "mul", "mul", "quotient", "least", "greatest", "with_sign"],
          "int": ["add", "add", "add", "sub", "sub", "mul", "mul", "bit_and", "bit_or", "bit_xor", "bit_clear", "left", "left", "right",
                  "right", "quotient", "remainder_of", "least", "greatest", "distance"]}
TERNARY = {"float": ["fused", "fused"], "int": ["mul_add", "mul_add", "field", "merge"]}
# What only some types have: operation and number of operands.
SPECIAL = {
    "u8": [("rotated", 2)], "u16": [("rotated", 2)],
    "u32": [("rotated", 2), ("reversed", 1), ("mul_high", 2), ("funnel", 3), ("bytes_of", 3), ("saturating", 2)],
    "u64": [("rotated", 2), ("reversed", 1), ("mul_high", 2)],
    "i32": [("mul_high", 2), ("sum_of_difference", 3), ("half_product", 3), ("byte_product", 3), ("sign_extended", 2)],
    "i64": [("mul_high", 2)],
}
# No -1: with -0 it is a choice of constants that ptxas 12.9 makes an integer of, which has no -0.
FLOAT_LITERALS = ["0.0", "-0.0", "1.0", "-1.5", "0.5", "2.0", "1e-3", "3.14159", "-7.25", "1e30", "65536.0", "1e-40", "1e-310", "16777216.0",
                  "0.1", "-1e9"]
FLOAT_WORDS = {"f16": ["0x7c00", "0xfc00", "0x7e00", "1", "0x8000", "0x3ff"],
               "f32": ["0x7f800000u", "0xff800000u", "0x7fc00000u", "1u", "0x80000000u", "0x7fffffu"],
               "f64": ["0x7ff0000000000000ul", "0xfff0000000000000ul", "0x7ff8000000000000ul", "1ul", "0x8000000000000000ul"]}


class Program:
    """`text` is the source; a launch has `grid` blocks of `block` lanes in these shapes, and `results` u64 a lane."""

    def __init__(self, seed, halves=True):
        self.draw = random.Random(seed)
        shapes = [(1, 1, 1), (7, 1, 1), (32, 1, 1), (33, 1, 1), (48, 1, 1), (64, 1, 1), (96, 1, 1), (100, 1, 1), (128, 1, 1), (256, 1, 1),
                  (8, 8, 1), (16, 4, 1), (5, 7, 2), (4, 4, 4), (3, 5, 1), (2, 48, 2)]
        self.block_shape = self.draw.choice(shapes)
        self.grid_shape = self.draw.choice([(1, 1, 1), (2, 1, 1), (3, 1, 1), (5, 1, 1), (2, 2, 1), (1, 2, 2)])
        self.block, self.grid = math.prod(self.block_shape), math.prod(self.grid_shape)
        self.halves = halves
        self.floats = self.draw.choice([0.15, 0.5, 1.0])
        self.depth = self.draw.choice([2, 3, 4])
        # All lanes do the same to a word that several of them reach, and nobody looks at it in between.
        self.counting = self.draw.choice(["add", "max", "min", "and", "or", "xor"])
        self.state = [(kind, f"{kind}_{i}") for kind, count in STATE.items() if halves or kind != "f16" for i in range(count)]
        self.results = len(self.state) + 1
        self.names = 0
        self.functions = []
        self.text = self.source()

    # ---- Expressions

    def kind(self):
        kinds = [kind for kind in OFTEN if self.halves or kind != "f16"]
        return self.draw.choices(kinds, [OFTEN[kind] * (self.floats if kind in FLOATS else 1) for kind in kinds])[0]

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def literal(self, kind):
        draw = self.draw
        if kind in FLOATS:
            if draw.random() < 0.07:
                return f"from_bits(({WORD[kind]}){draw.choice(FLOAT_WORDS[kind])})"
            number = draw.choice(FLOAT_LITERALS + [f"{draw.uniform(-100, 100):.5f}"])
            return f"to_f16((f32){number})" if kind == "f16" else f"({kind}){number}"
        width = WIDTH[kind]
        number = draw.choice([0, 1, 2, 3, 5, 7, 15, 16, 31, 32, 63, 100, 255, 256, -1, 1 << width - 1, (1 << width - 1) - 1,
                              draw.getrandbits(width), draw.getrandbits(width), draw.getrandbits(8)]) % (1 << width)
        return f"({kind}){number}{'ul' if width == 64 else 'u'}"

    def variable(self, kind):
        names = [name for of, name in self.variables if of == kind]
        return self.draw.choice(names) if names else self.literal(kind)

    def below(self, count, depth):
        """A u32 below a power of two."""
        return f"({self.expression('u32', depth)} & {count - 1}u)"

    def memory(self, kind, depth):
        draw = self.draw
        places = ["input"] * 3
        if kind in ("u32", "i32"):
            places += ["array", "constant"]
        if kind in ("u64", "i64"):
            places += ["constant"]
        if kind == "u8":
            places += ["bytes"]
        if kind in SHARED and self.phase == "read":
            places += ["shared"] * 3
        place = draw.choice(places)
        if place == "array":
            return f"({kind})s.array[{self.below(16, depth)}]"
        if place == "bytes":
            return f"s.bytes[{self.below(16, depth)}]"
        if place == "constant":
            return f"({kind})table[{self.below(32, depth)}]"
        if place == "shared":
            return f"shared_{kind}[{self.below(64, depth)}]"
        read = f"((const {kind} *)input)[{self.below(INPUT * 8 // WIDTH[kind], depth)}]"
        return f"seen({read})" if kind in FLOATS else read

    def expression(self, kind, depth):
        draw, group = self.draw, "float" if kind in FLOATS else "int"
        if depth <= 0 or draw.random() < 0.12:
            choice = draw.random()
            if choice < 0.07 and kind in ("u32", "i32"):
                return f"({kind}){draw.choice(['s.thread', 's.global', 's.block', 's.lanes'])}"
            return self.variable(kind) if choice < 0.75 else self.literal(kind)
        depth -= 1
        self.cost += self.rounds
        choice = draw.random()
        if choice < 0.1:
            return self.memory(kind, depth)
        if choice < 0.2:
            return f"({self.condition(depth)} ? {self.expression(kind, depth)} : {self.expression(kind, depth)})"
        if choice < 0.34:
            other = self.kind()
            value = self.expression(other, depth)
            return value if other == kind else f"to_{kind}({value})" if other in FLOATS or kind in FLOATS else f"({kind}){value}"
        if choice < 0.4:
            if kind in FLOATS:
                return f"from_bits({self.expression(WORD[kind], depth)})"
            of = [other for other in FLOATS if WORD[other] == kind and (self.halves or other != "f16")]
            if of:
                return f"bits({self.expression(of[0], depth)})"
            if draw.random() < 0.3:
                return f"({kind}){self.condition(depth)}"
        if choice < 0.44 and kind in ("u32", "u64"):
            count = draw.choice(["count_ones", "leading_zeros", "first_one"])
            return f"({kind}){count}({self.expression(draw.choice(['u32', 'u64']), depth)})"
        operations = [(name, 1) for name in UNARY[group]] + [(name, 2) for name in 2 * BINARY[group]] + [(name, 3) for name in TERNARY[group]]
        operation, count = draw.choice(operations + 2 * SPECIAL.get(kind, []))
        operands = [self.expression(kind, depth) for _ in range(count)]
        if count == 2 and draw.random() < 0.25:
            operands[1] = self.literal(kind)
        return f"{operation}({', '.join(operands)})"

    def condition(self, depth):
        draw, choice = self.draw, self.draw.random()
        if depth > 0 and choice < 0.15:
            return f"({self.condition(depth - 1)} {draw.choice(['&&', '||', '&', '|', '!='])} {self.condition(depth - 1)})"
        if depth > 0 and choice < 0.22:
            return f"(!{self.condition(depth - 1)})"
        kind = self.kind()
        relation = draw.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({self.expression(kind, depth - 1)} {relation} {self.expression(kind, depth - 1)})"

    # ---- Statements

    def statements(self, depth, count):
        seen = len(self.variables)
        lines = [line for _ in range(count) for line in self.statement(depth)]
        del self.variables[seen:]
        return ["  " + line for line in lines]

    def statement(self, depth):
        draw = self.draw
        if self.cost > self.budget:
            return []
        choices = {self.assignment: 8, self.declaration: 4, self.element: 4, self.call: 3}
        if not self.function:
            choices |= {self.own: 3, self.own_atomic: 2, self.count: 3}
        if self.loops:
            choices[self.leave_loop] = 3
        if self.function and depth < 2:
            choices[self.leave_function] = 2
        if depth > 0:
            choices |= {lambda: self.branch(depth - 1): 10, lambda: self.switch(depth - 1): 4}
            if self.rounds < 40:
                choices[lambda: self.loop(depth - 1)] = 8
        return draw.choices(list(choices), list(choices.values()))[0]()

    def assignment(self):
        kind, name = self.draw.choice([variable for variable in self.variables if variable[1] not in self.counters])
        return [f"{name} = {self.expression(kind, self.depth)};"]

    def declaration(self):
        draw, kind, name = self.draw, self.kind(), self.name("v")
        if draw.random() < 0.2:
            words = f"((const Words *)input)[{self.below(INPUT // 16, 2)}]"
            self.variables.append(("u32", name))
            return [f"u32 {name};", "{", f"  const Words words = {words};",
                    f"  {name} = words.x {draw.choice('+^&|')} words.y {draw.choice('+-^&|')} words.w;", "}"]
        line = f"{kind} {name} = {self.expression(kind, self.depth)};"
        self.variables.append((kind, name))
        return [line]

    def element(self):
        if self.draw.random() < 0.3:
            return [f"s.bytes[{self.below(16, 1)}] = {self.expression('u8', self.depth)};"]
        return [f"s.array[{self.below(16, 1)}] = {self.expression('u32', self.depth)};"]

    def own(self):
        kind = self.draw.choice([kind for kind in OWN if self.halves or kind != "f16"])
        value = self.expression(kind, self.depth)
        place = f"(({kind} *)(own + {OWN[kind]}))[{self.below(OWN_PART * 8 // WIDTH[kind], 1)}]"
        if kind == "u32" and self.draw.random() < 0.2:
            return [f"*(Words *)(own + {OWN[kind]}) = Words{{{value}, {self.variable('u32')}, {self.variable('u32')}, {self.literal('u32')}}};"]
        return [f"{place} = {'seen(' + value + ')' if kind in FLOATS else value};"]

    def own_atomic(self):
        draw = self.draw
        kind = draw.choice(["u32", "u32", "i32", "u64"])
        base = "u64" if kind == "u64" else "u32"
        place = f"({kind} *)(own + {OWN[base]}) + {self.below(OWN_PART * 8 // WIDTH[kind], 1)}"
        operation = draw.choice(["add", "max", "min", "and", "or", "xor", "exchange", "swap_if"])
        operands = [self.expression(kind, 2) for _ in range(2 if operation == "swap_if" else 1)]
        name = self.name("v")
        self.variables.append((kind, name))
        return [f"{kind} {name} = atomic_{operation}({', '.join([place, *operands])});"]

    def count(self):
        kind = self.draw.choice(["u32", "u32", "u64"])
        self.cost += self.rounds
        if kind == "u32" and self.phase == "count":
            return [f"atomic_{self.counting}(shared_counters + {self.below(COUNTERS, 1)}, {self.expression('u32', self.depth)});"]
        return [f"atomic_{self.counting}(counters_{kind} + {self.below(self.draw.choice([1, 4, COUNTERS]), 1)}, {self.expression(kind, self.depth)});"]

    def call(self):
        """Its own statement: what it changes must not depend on the order in which operands are computed."""
        draw = self.draw
        callable_ = [function for function in self.functions if self.cost + function[3] * self.rounds < self.budget]
        if not callable_:
            return []
        name, kind, parameters, cost = draw.choice(callable_)
        self.cost += cost * self.rounds
        arguments = ", ".join(["s", "input"] + [self.expression(parameter, 1) for parameter in parameters])
        like = [function for function in callable_ if function[1:3] == (kind, parameters)]
        result = self.name("v")
        lines = [f"{kind} {result} = {name}({arguments});"]
        if len(like) > 1 and draw.random() < 0.6:
            other = draw.choice(like)
            self.cost += other[3] * self.rounds
            pointer = self.name("p")
            signature = ", ".join(["State &", "const u8 *", *parameters])
            lines = [f"{kind} (*{pointer})({signature}) = {self.condition(1)} ? {name} : {other[0]};", f"{kind} {result} = {pointer}({arguments});"]
        self.variables.append((kind, result))
        return lines

    def leave_loop(self):
        return [f"if ({self.condition(2)}) {self.draw.choice(['break', 'continue'])};"]

    def leave_function(self):
        return [f"if ({self.condition(2)}) return {self.expression(self.function, 1)};"]

    def branch(self, depth):
        lines = [f"if ({self.condition(2)}) {{", *self.statements(depth, self.draw.randint(1, 3))]
        if self.draw.random() < 0.5:
            lines += ["} else {", *self.statements(depth, self.draw.randint(1, 3))]
        return [*lines, "}"]

    def switch(self, depth):
        draw, loops = self.draw, self.loops
        lines = [f"switch ({self.expression(draw.choice(['u32', 'i32', 'u8', 'u64']), 2)} & {draw.choice([3, 7, 7, 15])}) {{"]
        self.loops = 0
        for label in draw.sample(range(9), draw.randint(2, 6)):
            lines += [f"case {label}: {{", *self.statements(depth, draw.randint(1, 2)), "}" + draw.choice([" break;"] * 3 + [""])]
        if draw.random() < 0.5:
            lines += ["default: {", *self.statements(depth, 1), "}"]
        self.loops = loops
        return [*lines, "}"]

    def loop(self, depth):
        draw, counter, before = self.draw, self.name("k"), (self.rounds, len(self.variables))
        rounds = draw.choice([2, 3, 4, 7, 8, 15])
        form = draw.choice(["for"] * 3 + ["while", "do"])
        if form == "for":
            kind = draw.choice(["u32", "u32", "i32", "u64"])
            bound = draw.choice([f"({kind}){rounds}", f"({kind})({self.expression('u32', 1)} % {rounds}u)"])
            head = [f"UNROLL({draw.choice([1, 2, 4])})"] * (draw.random() < 0.2)
            head += [f"for ({kind} {counter} = 0; {counter} < {bound}; {counter} += {draw.choice([1, 1, 1, 2])}) {{"]
            tail = ["}"]
            self.variables.append((kind, counter))
            self.counters.add(counter)
        elif form == "while":
            head = [f"for (u32 {counter} = 0; {self.condition(2)} && {counter} < {rounds}u; {counter}++) {{"]
            tail = ["}"]
        else:
            head = ["{", f"u32 {counter} = 0;", "do {"]
            tail = [f"}} while (++{counter} < {rounds}u && {self.condition(1)});", "}"]
        self.rounds *= 0.7 * rounds
        self.loops += 1
        body = self.statements(depth, draw.randint(1, 4))
        self.loops -= 1
        self.rounds = before[0]
        del self.variables[before[1]:]
        return head + body + tail

    # ---- Functions and phases

    def begin(self, phase, variables, budget, function=None):
        self.phase, self.function, self.budget, self.cost = phase, function, budget, 0
        self.variables = variables + [(kind, f"s.{name}") for kind, name in self.state]
        self.loops, self.rounds, self.counters = 0, 1, set()

    def define(self, number):
        draw = self.draw
        if self.functions and draw.random() < 0.5:
            # As another one: for calls by pointer.
            _, kind, kinds, _ = draw.choice(self.functions)
        else:
            kind, kinds = self.kind(), [self.kind() for _ in range(draw.randint(0, 5))]
        parameters = [(parameter, f"a{i}") for i, parameter in enumerate(kinds)]
        self.begin("plain", parameters, draw.choice([30, 100, 300]), kind)
        name = f"f{number}"
        body = []
        cost = 1
        if draw.random() < 0.15 and "u32" in kinds:
            # Itself, at most six times.
            depth = parameters[kinds.index("u32")][1]
            arguments = ", ".join(["s", "input"] + [f"{depth} % 7u - 1u" if n == depth else self.expression(k, 1) for k, n in parameters])
            body = [f"  if ({depth} % 7u != 0u) {{", f"    {kind} deeper = {name}({arguments});",
                    f"    s.u32_0 ^= {'bits(' if kind in FLOATS else '('}deeper);", "  }"]
            cost = 7
        body += self.statements(2, draw.randint(1, 4))
        body += [f"  return {self.expression(kind, 2)};"]
        signature = ", ".join(["State &s", "const u8 *input"] + [f"{k} {n}" for k, n in parameters])
        self.functions.append((name, kind, kinds, (self.cost + 5) * cost))
        inline = "NOINLINE" if cost > 1 else draw.choice(["NOINLINE", "NOINLINE", "INLINE"])
        return [f"{inline} {kind} {name}({signature}) {{", *body, "}"]

    MEMORY = ("const u8 *input, u8 *own, u32 *counters_u32, u64 *counters_u64, u32 *shared_u32, i32 *shared_i32, u64 *shared_u64, "
              "f32 *shared_f32, u32 *shared_counters")
    PASSED = "input, own, counters_u32, counters_u64, shared_u32, shared_i32, shared_u64, shared_f32, shared_counters"

    def phases(self):
        """Phases of functions each, with what the kernel and what the host do in them."""
        draw = self.draw
        kinds = ["write", "read", "count", "plain"] + (["exchange"] if self.block % 32 == 0 else [])
        kinds = ["plain"] if draw.random() < 0.2 else [draw.choice(kinds) for _ in range(draw.randint(1, 4))]
        functions, kernel, host = [], [], []
        for number, phase in enumerate(kinds):
            self.begin(phase, [], PHASE_COST / len(kinds))
            if phase == "exchange":
                f, k, h = self.exchange(number)
                functions, kernel, host = functions + f, kernel + k, host + h
                continue
            body = self.statements(3, draw.randint(2, 7))
            if phase == "write":
                values = [(kind, self.expression(kind, 2)) for kind in SHARED]
                body += ["  if (s.thread < 64u) {", *(f"    shared_{kind}[s.thread] = {'seen(' + v + ')' if kind in FLOATS else v};" for kind, v in values), "  }"]
            functions += [f"INLINE void phase{number}(State &s, {self.MEMORY}) {{", *body, "}"]
            kernel += ["  barrier();", f"  phase{number}(s, {self.PASSED});"]
            host += [f"    for (State &s : states) phase{number}(s, {self.PASSED.replace('own', f'own.data() + s.global * {OWN_BYTES}', 1)});"]
        return functions, kernel, host

    def exchange(self, number):
        """Lanes get what others of their 32 give: a number of one of them, or the votes of all."""
        to = self.draw.choice([name for kind, name in self.state if kind == "u32"])
        functions = [f"INLINE u32 give{number}(State &s, const u8 *input) {{ return {self.expression('u32', 2)}; }}",
                     f"INLINE u32 from{number}(State &s, const u8 *input) {{ return {self.expression('u32', 2)}; }}",
                     f"INLINE bool vote{number}(State &s, const u8 *input) {{ return {self.condition(2)}; }}"]
        kernel = ["  {", f"    const u32 got = from_lane(give{number}(s, input), from{number}(s, input));",
                  f"    const u32 voted = votes(vote{number}(s, input));", f"    s.{to} = got + 3u * voted;", "  }"]
        host = ["    {", "      std::vector<u32> given(block), got(block), voted(block);",
                f"      for (State &s : states) given[s.thread] = give{number}(s, input), voted[s.thread & ~31u] |= (u32)vote{number}(s, input) << (s.thread & 31u);",
                f"      for (State &s : states) got[s.thread] = given[s.thread & ~31u | from{number}(s, input) & 31u] + 3u * voted[s.thread & ~31u];",
                f"      for (State &s : states) s.{to} = got[s.thread];", "    }"]
        return functions, kernel, host

    # ---- The whole

    def source(self):
        draw = self.draw
        fields = " ".join(f"{kind} {name};" for kind, name in self.state)
        lines = ['#include "prelude.h"', f"struct State {{ {fields} u32 array[16]; u8 bytes[16]; u32 thread, global, block, lanes; }};",
                 "CONSTANT u64 table[32] = {" + ", ".join(f"{draw.getrandbits(64):#x}ul" for _ in range(32)) + "};"]
        for number in range(draw.choice([0, 0, 1, 2, 3, 5, 7])):
            lines += self.define(number)
        functions, kernel, host = self.phases()
        exchanges = any("from_lane" in line for line in kernel)
        lines += functions
        lines += ["INLINE void begin(State &s, const u8 *input, u32 thread, u32 block, u32 lanes) {",
                  f"  s.thread = thread, s.block = block, s.global = block * {self.block}u + thread, s.lanes = lanes;"]
        for kind, name in self.state:
            read = f"((const {kind} *)input)[(s.global * {draw.choice([1, 3, 7, 17])}u + {draw.randint(0, 200)}u) % {INPUT * 8 // WIDTH[kind]}u]"
            lines += [f"  s.{name} = {'seen(' + read + ')' if kind in FLOATS else read};"]
        lines += ["  for (u32 i = 0; i < 16; i++) s.array[i] = i * 2654435761u + s.global, s.bytes[i] = (u8)(i * 37u ^ thread);", "}",
                  "INLINE void end(State &s, const u32 *shared_counters, u64 *results) {"]
        lines += [f"  results[{at}] = (u64){'bits' if kind in FLOATS else ''}(s.{name});" for at, (kind, name) in enumerate(self.state)]
        lines += ["  u64 sum = 0;",
                  "  for (u32 i = 0; i < 16; i++) sum = sum * 6364136223846793005ul + (s.array[i] ^ shared_counters[i]) + ((u64)s.bytes[i] << 32);",
                  f"  results[{self.results - 1}] = sum;", "}"]
        shared = ["u32 shared_u32[64]", "i32 shared_i32[64]", "u64 shared_u64[64]", "f32 shared_f32[64]", f"u32 shared_counters[{COUNTERS}]"]
        number = "({kind}(x) + {x}u * ({kind}(y) + {y}u * {kind}(z)))"
        thread, block = (number.format(kind=kind, x=shape[0], y=shape[1])
                         for kind, shape in (("THREAD", self.block_shape), ("BLOCK", self.grid_shape)))
        clear = "shared_u32[i] = 0, shared_i32[i] = 0, shared_u64[i] = 0, shared_f32[i] = 0, shared_counters[i % 16u] = 0x5a5au * (i % 16u);"
        lines += ["#ifndef HOST",
                  "KERNEL(kernel)(GLOBAL const u8 *input, GLOBAL u8 *owns, GLOBAL u32 *counters_u32, GLOBAL u64 *counters_u64, GLOBAL u64 *results, u32 lanes) {",
                  *(f"  __shared__ {array};" for array in shared), *([f"  EXCHANGED({self.block})"] if exchanges else []), "  State s;", f"  begin(s, input, {thread}, {block}, lanes);",
                  f"  u8 *own = owns + s.global * {OWN_BYTES}u;", f"  for (u32 i = s.thread; i < 64u; i += {self.block}u) {clear}", *kernel,
                  "  barrier();", f"  end(s, shared_counters, results + s.global * {self.results}u);", "}", "#else",
                  "static void file(const char *name, const char *mode, void *data, size_t bytes) {", "  FILE *at = fopen(name, mode);",
                  "  if (!at || (*mode == 'r' ? fread(data, 1, bytes, at) : fwrite(data, 1, bytes, at)) != bytes || fclose(at)) abort();", "}",
                  "int main() {", f"  static u8 input[{INPUT}];", f"  static u32 counters_u32[{COUNTERS}];", f"  static u64 counters_u64[{COUNTERS}];",
                  '  file("input.bin", "rb", input, sizeof input);', '  file("counters_u32.bin", "rb", counters_u32, sizeof counters_u32);',
                  '  file("counters_u64.bin", "rb", counters_u64, sizeof counters_u64);',
                  f"  const u32 grid = {self.grid}, block = {self.block}, lanes = grid * block;",
                  f"  std::vector<u8> own(lanes * {OWN_BYTES});", f"  std::vector<u64> results(lanes * {self.results});",
                  "  for (u32 b = 0; b < grid; b++) {", *(f"    static {array};" for array in shared),
                  f"    for (u32 i = 0; i < 64; i++) {clear}", "    std::vector<State> states(block);",
                  "    for (u32 t = 0; t < block; t++) begin(states[t], input, t, b, lanes);", *host,
                  f"    for (State &s : states) end(s, shared_counters, results.data() + s.global * {self.results});", "  }",
                  '  file("owns.expected", "wb", own.data(), own.size());', '  file("results.expected", "wb", results.data(), 8 * results.size());',
                  '  file("counters_u32.expected", "wb", counters_u32, sizeof counters_u32);',
                  '  file("counters_u64.expected", "wb", counters_u64, sizeof counters_u64);', "}", "#endif"]
        return "\n".join(lines) + "\n"
