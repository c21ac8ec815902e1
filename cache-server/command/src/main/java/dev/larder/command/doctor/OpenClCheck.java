package dev.larder.command.doctor;

import java.util.ArrayList;
import java.util.List;

/** Whether there are OpenCL devices, by what their drivers registered. */
final class OpenClCheck implements Check {
    private static final String LIBRARY = "libOpenCL.so.1";
    private static final String VENDORS = "/etc/OpenCL/vendors";

    @Override
    public String name() {
        return "opencl";
    }

    @Override
    public Finding look(Machine machine) {
        boolean hasLibrary = machine.probes().hasLibrary(LIBRARY);
        List<String> vendors = machine.names(VENDORS, ".icd");
        List<String> drivers = new ArrayList<>();
        List<String> broken = new ArrayList<>();
        for (String vendor : vendors) {
            String driver = machine.text(VENDORS + "/" + vendor).orElse("");
            (!driver.isEmpty() && machine.probes().hasLibrary(driver) ? drivers : broken).add(vendor + "=" + driver);
        }
        String found = "library=" + (hasLibrary ? LIBRARY : "none") + " platforms=" + drivers;
        if (!hasLibrary && vendors.isEmpty()) {
            return Finding.info(
                    name(),
                    found + ": batches stay in host memory",
                    "apt-get install ocl-icd-libopencl1 pocl-opencl-icd (a CPU device), or the driver of your GPU");
        } else if (!hasLibrary) {
            return Finding.warning(
                    name(), found + ": drivers, but no loader: " + vendors, "apt-get install ocl-icd-libopencl1");
        } else if (!broken.isEmpty()) {
            return Finding.warning(
                    name(),
                    found + " broken=" + broken,
                    "install the library that each names, or remove its file from " + VENDORS);
        } else if (drivers.isEmpty()) {
            return Finding.info(
                    name(),
                    found + ": a loader, but no driver",
                    "apt-get install pocl-opencl-icd (a CPU device), or the driver of your GPU");
        }
        return Finding.ok(name(), found);
    }
}
