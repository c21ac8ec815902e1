package dev.larder.loader.cuda.device;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.transform.Transform;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;

/**
 * A process with a JVM and Python in it: gives tensors of batches to the framework that is named, and lets Python check what it sees.
 *
 * <p>Arguments: the store, libpython, the interpreter's sys.path, the framework, {@code versioned} if it takes such tensors, and
 * {@code gpu} if it takes tensors on a GPU.
 */
final class DlpackProgram {
    /** RTLD_NOW and RTLD_GLOBAL: extension modules take Python's own functions from the process. */
    private static final int GLOBAL = 0x102;

    private static final long DEFAULT_STREAM = 1;

    private final NativeLibrary python;

    private DlpackProgram(String library) {
        this.python = NativeLibrary.getInstance(library, Map.of(Library.OPTION_OPEN_FLAGS, GLOBAL));
        python.getFunction("Py_InitializeEx").invokeVoid(new Object[] {0});
    }

    private void run(String text) {
        int result = python.getFunction("PyRun_SimpleString").invokeInt(new Object[] {text});
        if (result != 0) {
            throw new IllegalStateException("python failed:\n" + text);
        }
    }

    private static final String CAPSULES = """
            import ctypes, sys
            sys.path[:] = %s.split(':')

            class Lent:
                "A DLManagedTensor of a batch, for from_dlpack of any framework; it is taken once."
                def __init__(self, address, versioned=False, device=1):
                    self.address, self.name, self.device = address, b"dltensor_versioned" if versioned else b"dltensor", device
                def __dlpack_device__(self):
                    return (self.device, 0)
                def __dlpack__(self, **unused):
                    new = ctypes.pythonapi.PyCapsule_New
                    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
                    return new(self.address, self.name, None)
            """;

    private static final Map<String, String> FROM_DLPACK = Map.of("torch", """
            import torch
            take = lambda lent: torch.from_dlpack(lent) if hasattr(torch, "from_dlpack") else torch.utils.dlpack.from_dlpack(lent.__dlpack__())
            total = lambda t: float(t.double().sum())
            shape = lambda t: tuple(t.shape)
            kind = lambda t: str(t.dtype).split(".")[-1]
            print("framework=torch", torch.__version__)
            """, "jax", """
            import jax, numpy
            take = jax.dlpack.from_dlpack
            total = lambda t: float(numpy.asarray(t).astype("f8").sum())
            shape = lambda t: tuple(t.shape)
            kind = lambda t: str(t.dtype)
            print("framework=jax", jax.__version__)
            """, "numpy", """
            import numpy
            take = numpy.from_dlpack
            total = lambda t: float(t.astype("f8").sum())
            shape = lambda t: tuple(t.shape)
            kind = lambda t: str(t.dtype)
            print("framework=numpy", numpy.__version__)
            """);

    public static void main(String[] arguments) {
        DlpackProgram program = new DlpackProgram(arguments[1]);
        boolean onGpu = arguments[5].equals("gpu");
        boolean takesDevice = !onGpu || !arguments[3].equals("numpy");
        program.run(CAPSULES.formatted("'" + arguments[2] + "'") + FROM_DLPACK.get(arguments[3]));
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset("pictures")) {
            LoaderBuilder builder = Loader.over(dataset)
                    .arrays("images", "labels")
                    .transform("images", new Transform().toFloat().channelsFirst())
                    .shuffle(3)
                    .batchSize(20);
            for (boolean onDevice : takesDevice ? new boolean[] {false, true} : new boolean[] {false}) {
                try (Loader loader =
                        (onDevice ? builder.device(CudaDevice.of(0)).deviceSlots(2) : builder).build()) {
                    Iterator<Batch> batches = loader.epoch(0).iterator();
                    for (int i = 0; i < 6; i++) {
                        program.check(batches.next(), onDevice, onGpu, arguments[4].equals("versioned"));
                    }
                }
            }
        }
        System.out.println("left=" + DlpackStruct.live());
        System.out.flush();
        program.run("sys.stdout.flush()\nimport os\nos._exit(0)"); // frameworks wait for threads of theirs otherwise
    }

    private void check(Batch batch, boolean onDevice, boolean onGpu, boolean takesVersioned) {
        batch.await(Duration.ofSeconds(20));
        BatchArray images = batch.array("images");
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) images.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
        images.read(bytes);
        double expected = 0;
        for (int i = 0; i < bytes.capacity(); i += Float.BYTES) {
            expected += bytes.getFloat(i);
        }
        batch.lend();
        boolean versioned = batch.number() % 2 == 1 && takesVersioned;
        long address;
        if (onDevice && !onGpu) { // memory of the stub is memory of the host: a framework without CUDA takes it as that
            address = DlpackStruct.create(images, 1, 0, versioned, null, batch::close);
        } else {
            try (Dlpack tensors = onDevice ? Dlpack.of(batch, DEFAULT_STREAM) : Dlpack.of(batch)) {
                address = versioned ? tensors.versionedTensor("images") : tensors.tensor("images");
            }
        }
        run("""
                t = take(Lent(%d, %s, %d))
                assert shape(t) == (20, 3, 12, 12), shape(t)
                assert kind(t) == 'float32', kind(t)
                assert abs(total(t) - %s) < 1e-6 * abs(total(t)), total(t)
                """.formatted(address, versioned ? "True" : "False", onDevice && onGpu ? 2 : 1, expected));
        if (!batch.isOpen()) {
            throw new IllegalStateException("closed under the tensor");
        }
        run("""
                u = t[3:5]
                del t
                import gc
                gc.collect()
                assert shape(u) == (2, 3, 12, 12)
                del u
                gc.collect()
                """);
        if (batch.isOpen()) {
            throw new IllegalStateException("the last view is gone, and the batch is open");
        }
        System.out.println("batch=" + batch + (versioned ? " versioned" : ""));
    }
}
