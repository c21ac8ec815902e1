package dev.larder.command.grid;

import com.google.gson.JsonObject;
import dev.larder.command.doctor.DeviceQuestion;
import dev.larder.command.doctor.Probes.DeviceAnswer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.launch.process.PoolSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The places that jobs run in, one for each device, with what makes a job see that device alone.
 *
 * @param wanted {@code all}, how many, or which, counted among those that this process sees
 * @param perDevice how many jobs share a device
 * @param visible {@code CUDA_VISIBLE_DEVICES} as this process has it; null where it has none
 */
public record DeviceSlots(
        String wanted, int perDevice, @Nullable String visible) {
    public static final String ALL = "all";
    private static final String HOST = "host";
    private static final String CUDA = "cuda:";
    private static final Pattern NUMBERS = Pattern.compile("\\d{1,4}(,\\d{1,4})*,?");
    private static final int MOST = 1024;

    /**
     * A GPU as the drivers list it.
     *
     * @param choice what {@code LARDER_DEVICE} calls it
     * @param isNvidia whether {@code CUDA_VISIBLE_DEVICES} hides it
     */
    private record Gpu(String choice, boolean isNvidia) {}

    /** Refuses what says no devices. */
    public static void check(String wanted) {
        boolean isNumber = NUMBERS.matcher(wanted).matches();
        boolean isCount = isNumber && wanted.indexOf(',') < 0;
        int count = isCount ? Integer.parseInt(wanted) : 1;
        if (!wanted.equals(ALL) && (!isNumber || count == 0 || count > MOST)) {
            throw Failure.of(ErrorCode.USAGE, "not a choice of devices")
                    .with("devices", wanted)
                    .remedy("give all, how many (4), or which (0,2; one alone as 2,)");
        }
    }

    /** Returns the places. The drivers are asked where it depends on them; a note is what somebody should know of it. */
    public List<PoolSlot> slots(Supplier<List<String>> gpus, boolean isCudaMachine, List<String> notes) {
        boolean all = wanted.equals(ALL);
        List<Gpu> found = all || isCudaMachine ? counted(gpus.get()) : List.of();
        if (all && found.isEmpty()) {
            notes.add("no GPU found: jobs run on the host, " + perDevice + " at a time; --devices N or --per-device N"
                    + " runs more");
            return copies(HOST, Map.of("LARDER_DEVICE", HOST));
        }
        List<PoolSlot> slots = new ArrayList<>();
        for (int device : devices(found.size())) {
            slots.addAll(copies(Integer.toString(device), environment(device, found)));
        }
        return slots;
    }

    private List<Integer> devices(int found) {
        List<Integer> devices = new ArrayList<>();
        if (wanted.indexOf(',') >= 0) {
            for (String device : wanted.split(",", 0)) {
                devices.add(Integer.valueOf(device));
            }
            return devices;
        }
        int count = wanted.equals(ALL) ? found : Integer.parseInt(wanted);
        for (int device = 0; device < count; device++) {
            devices.add(device);
        }
        return devices;
    }

    /** Numbers are CUDA's where there are devices that it can hide; else they count all GPUs. */
    private static List<Gpu> counted(List<String> gpus) {
        List<Gpu> all = gpus.stream().map(DeviceSlots::gpu).toList();
        List<Gpu> nvidia = all.stream().filter(Gpu::isNvidia).toList();
        return nvidia.isEmpty() ? all : nvidia;
    }

    /** A job that CUDA shows one device alone finds that device where the first one of its platform was. */
    private Map<String, @Nullable String> environment(int device, List<Gpu> found) {
        String choice = Integer.toString(device);
        if (device < found.size()) {
            choice = found.get(found.get(0).isNvidia() ? 0 : device).choice();
        }
        return Map.of("CUDA_VISIBLE_DEVICES", cuda(device), "LARDER_DEVICE", choice);
    }

    /** Numbers count among what this process sees. */
    private String cuda(int device) {
        if (visible == null || visible.isBlank()) {
            return Integer.toString(device);
        }
        String[] names = visible.strip().split("\\s*,\\s*", -1);
        if (device >= names.length) {
            throw Failure.of(ErrorCode.USAGE, "no such device among those that are visible")
                    .with("device", device)
                    .with("CUDA_VISIBLE_DEVICES", visible)
                    .remedy("choose among " + names.length + ", or unset the variable");
        }
        return names[device];
    }

    private List<PoolSlot> copies(String name, Map<String, @Nullable String> environment) {
        List<PoolSlot> slots = new ArrayList<>();
        for (int copy = 1; copy <= perDevice; copy++) {
            slots.add(new PoolSlot(perDevice == 1 ? name : name + ":" + copy, environment));
        }
        return slots;
    }

    /** Asks the drivers, in a process of its own. */
    public static List<String> ask(List<String> notes) {
        DeviceAnswer answer = DeviceQuestion.ofThisCommand().ask(DeviceSlots::words);
        if (answer.ending() != DeviceAnswer.Ending.LISTED) {
            notes.add("cannot list devices: " + answer.reason());
        }
        return ofOneBackend(answer.devices().stream()
                .filter(words -> words.startsWith("gpu "))
                .toList());
    }

    /** Leaves out the GPUs that CUDA lists where OpenCL lists NVIDIA's too: they are the same. */
    static List<String> ofOneBackend(List<String> gpus) {
        boolean openCl = gpus.stream().map(DeviceSlots::gpu).anyMatch(gpu -> gpu.isNvidia() && !isCuda(gpu.choice()));
        return gpus.stream()
                .filter(words -> !openCl || !isCuda(gpu(words).choice()))
                .toList();
    }

    private static boolean isCuda(String choice) {
        return choice.startsWith(CUDA);
    }

    private static String words(JsonObject device) {
        String index = device.get("index").getAsString();
        String choice = device.get("backend").getAsString().equals("cuda") ? CUDA + index : index;
        return device.get("kind").getAsString() + " " + choice + " "
                + device.get("platform").getAsString();
    }

    private static Gpu gpu(String words) {
        String[] parts = words.split(" ", 3);
        return new Gpu(parts[1], parts[2].toLowerCase(Locale.ROOT).contains("nvidia"));
    }
}
