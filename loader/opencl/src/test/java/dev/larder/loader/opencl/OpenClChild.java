package dev.larder.loader.opencl;

import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.InstalledDevices;
import java.time.Duration;
import java.util.List;

/** What tests have a JVM of its own do; says on standard output what came of it. */
final class OpenClChild {
    private OpenClChild() {}

    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "divide" -> divide();
            case "list" -> list();
            case "run" -> run();
            case "stuck" -> stuck();
            default -> throw new IllegalArgumentException(List.of(arguments).toString());
        }
    }

    /** Divides by zero, often enough to be compiled, while a device is open. */
    private static void divide() {
        try (Rig rig = OpenClRig.open()) {
            rig.run(Rig.random(rig.byteSize, 1));
            int caught = 0;
            int[] divisors = new int[4];
            for (int i = 0; i < 200_000; i++) {
                caught += dividesByZero(1000 + i, divisors[i & 3]) ? 1 : 0;
            }
            System.out.println("caught " + caught);
        }
    }

    private static boolean dividesByZero(int number, int divisor) {
        try {
            return number / divisor == -1;
        } catch (ArithmeticException e) {
            return true;
        }
    }

    /** Looks for devices twice, and lets the choice fall back. */
    private static void list() {
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println("devices " + new OpenClProvider().devices());
            } catch (LarderException e) {
                System.out.println(e.code() + " " + e.getMessage());
            }
        }
        System.out.println("auto " + InstalledDevices.open(Device.auto()));
        System.out.println("orHost " + InstalledDevices.open(Device.opencl().orHost()));
    }

    private static void run() {
        try (Rig rig = OpenClRig.open()) {
            rig.run(Rig.random(rig.byteSize, 1));
            System.out.println("done " + System.getProperty("uniqueLibraryNames"));
        }
    }

    /** Closes a device whose work never gets done. */
    private static void stuck() {
        DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT.patience(Duration.ofMillis(300)));
        Rig rig = new Rig(backend, 1000);
        new Gate(backend).before(backend.uploads());
        rig.submit(Rig.random(rig.byteSize, 1)).close();
        long begin = System.nanoTime();

        rig.close();
        backend.close();
        rig.staging.close();

        System.out.println(
                "closed " + Duration.ofNanos(System.nanoTime() - begin).toMillis());
        System.out.println("left " + LiveObjects.count().keySet());
        Runtime.getRuntime().halt(0);
    }
}
