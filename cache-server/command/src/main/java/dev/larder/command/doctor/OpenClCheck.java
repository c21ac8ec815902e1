package dev.larder.command.doctor;

import dev.larder.command.doctor.Probes.DeviceAnswer;
import java.util.ArrayList;
import java.util.List;

/** Checks the registered OpenCL drivers and lists their devices, in a separate process because drivers crash. */
final class OpenClCheck implements Check {
    private static final String LIBRARY = "libOpenCL.so.1";
    private static final String NVIDIA = "libnvidia-opencl.so.1";
    private static final String VENDORS = "/etc/OpenCL/vendors";
    private static final String END = ".icd";
    private static final String CHOSEN_DRIVER = "OCL_ICD_VENDORS";

    @Override
    public String name() {
        return "opencl";
    }

    @Override
    public Finding look(Machine machine) {
        boolean hasLibrary = machine.probes().hasLibrary(LIBRARY);
        Drivers drivers = Drivers.of(machine);
        String found = "library=" + (hasLibrary ? LIBRARY : "none") + " platforms=" + drivers.working();
        if (!hasLibrary) {
            return withoutLibrary(drivers, found);
        } else if (!drivers.broken().isEmpty()) {
            return Finding.warning(
                    name(),
                    found + " broken=" + drivers.broken(),
                    "install the library that each names, or remove its file from " + VENDORS + " (or unset "
                            + CHOSEN_DRIVER + ")");
        } else if (machine.probes().hasLibrary(NVIDIA) && !drivers.haveNvidia()) {
            return Finding.warning(
                    name(),
                    found + ": NVIDIA's driver is there, but not registered: library=" + NVIDIA,
                    "echo " + NVIDIA + " > " + VENDORS + "/nvidia.icd, or export " + CHOSEN_DRIVER + "=" + NVIDIA);
        } else if (drivers.working().isEmpty()) {
            return Finding.info(
                    name(),
                    found + ": a loader, but no driver",
                    "apt-get install pocl-opencl-icd (a CPU device), or the driver of your GPU");
        }
        return devices(machine.probes().devices(), found);
    }

    private Finding withoutLibrary(Drivers drivers, String found) {
        if (drivers.registered().isEmpty()) {
            return Finding.info(
                    name(),
                    found + ": batches stay in host memory",
                    "apt-get install ocl-icd-libopencl1 pocl-opencl-icd (a CPU device), or the driver of your GPU");
        }
        return Finding.warning(
                name(),
                found + ": drivers, but no loader: " + drivers.registered(),
                "apt-get install ocl-icd-libopencl1");
    }

    private Finding devices(DeviceAnswer answer, String found) {
        String which = CHOSEN_DRIVER + "=LIBRARY larder devices, with each library in turn, finds the driver";
        return switch (answer.ending()) {
            case LISTED ->
                answer.devices().isEmpty()
                        ? Finding.info(
                                name(),
                                found + ": drivers, but no device",
                                "see nvidia-smi or the driver's own tool; a container needs access to the device")
                        : Finding.ok(name(), found + " devices=" + answer.devices());
            case REFUSED -> Finding.warning(name(), found + ": " + answer.reason(), "larder devices --debug");
            case DIED ->
                Finding.warning(
                        name(), found + ": a driver crashes the process that lists devices: " + answer.reason(), which);
            case SILENT ->
                Finding.warning(name(), found + ": a driver hangs when it lists devices: " + answer.reason(), which);
        };
    }

    /**
     * The drivers that libOpenCL would load.
     *
     * @param registered the names of their files
     * @param working drivers with a library
     * @param broken drivers without a library
     */
    private record Drivers(List<String> registered, List<String> working, List<String> broken) {
        static Drivers of(Machine machine) {
            Drivers drivers = new Drivers(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            String chosen = machine.probes().variable(CHOSEN_DRIVER);
            if (chosen.isEmpty() || machine.isFolder(chosen)) {
                String folder = chosen.isEmpty() ? VENDORS : chosen;
                machine.names(folder, END).forEach(file -> drivers.addFile(machine, folder, file));
            } else if (chosen.endsWith(END)) {
                int slash = chosen.lastIndexOf('/');
                drivers.addFile(machine, slash < 0 ? VENDORS : chosen.substring(0, slash), chosen.substring(slash + 1));
            } else {
                drivers.add(machine, CHOSEN_DRIVER, chosen);
            }
            return drivers;
        }

        private void addFile(Machine machine, String folder, String file) {
            add(machine, file, machine.text(folder + "/" + file).orElse(""));
        }

        private void add(Machine machine, String place, String library) {
            registered.add(place);
            if (!library.isEmpty() && machine.probes().hasLibrary(library)) {
                working.add(library);
            } else {
                broken.add(place + "=" + library);
            }
        }

        boolean haveNvidia() {
            return working.stream().anyMatch(driver -> driver.contains("nvidia"));
        }
    }
}
