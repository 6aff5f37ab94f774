"""The programs on the host: compiled as plain loops, loaded and called."""
import ctypes
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++17", "-O2", "-fno-tree-vectorize", "-fwrapv", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared",
         "-Wno-unknown-pragmas"]


class Host:
    def __init__(self, program, folder):
        source = HERE / "programs" / f"{program.name}.cu"
        each_lane = "false" if "#ifdef HOST" in source.read_text() else "true"
        name = program.name
        main = pathlib.Path(folder) / f"{name}.cpp"
        main.write_text(f"""#include "{HERE / 'host.h'}"
#include "{source}"

extern "C" __attribute__((visibility("default"))) void run(const unsigned *grid, const unsigned *block, void **arguments)
{{
    {"Upward upward;" if program.upward else ""}
    Launch<{name}, {each_lane}>::run({name}, grid, block, arguments);
}}
""")
        library = main.with_suffix(".so")
        subprocess.check_call(["g++", *FLAGS, *(["-frounding-math"] if program.upward else []), main, "-o", library])
        self.run = ctypes.CDLL(str(library)).run

    def launch(self, launch, seconds):
        """The least time of a call, in seconds, and what it leaves in its results; each is called with the initial ones."""
        self.memory, pointers = [], []
        for argument in launch.arguments:
            data = argument.pack() if hasattr(argument, "pack") else argument.data
            memory = ctypes.create_string_buffer(data, len(data))
            self.memory.append(memory)
            if not hasattr(argument, "pack"):
                memory = ctypes.c_void_p(ctypes.addressof(memory))
            pointers.append((memory, ctypes.c_void_p(ctypes.addressof(memory))))
        arguments = (ctypes.c_void_p * len(pointers))(*(place for _, place in pointers))
        grid, block = ((ctypes.c_uint * 2)(*extent) for extent in (launch.grid, launch.block))
        best, start = float("inf"), time.perf_counter()
        while True:
            for argument, memory in zip(launch.arguments, self.memory):
                if getattr(argument, "result", False):
                    ctypes.memmove(memory, argument.data, len(argument.data))
            before = time.perf_counter()
            self.run(grid, block, arguments)
            after = time.perf_counter()
            best = min(best, after - before)
            if after - start >= seconds:
                break
        return best, [memory.raw if getattr(argument, "result", False) else None
                      for argument, memory in zip(launch.arguments, self.memory)]
