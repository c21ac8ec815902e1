package dev.larder.loader.cuda.device;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Lists paths of NVRTC: of the environment variable, of toolkits, of the system, and of Python wheels. */
final class NvrtcPlaces {
    /** The variable with the path of the library or its folder. */
    static final String VARIABLE = "LARDER_NVRTC";

    private static final String NAME = "libnvrtc.so";

    /** The folders in wheels that frameworks depend on: of CUDA 13, and of earlier major versions. */
    private static final List<String> WHEELS = List.of("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib");

    private final Map<String, String> environment;

    /** The library's names, that of the driver's major version first, because the driver may refuse code of a newer one. */
    private final List<String> names;

    private NvrtcPlaces(Map<String, String> environment, int driverMajor) {
        this.environment = environment;
        Stream<Integer> majors = Stream.of(13, 12).filter(major -> major <= driverMajor);
        Stream<String> named = majors.map(major -> NAME + "." + major);
        this.names = Stream.concat(named, Stream.of(NAME + ".11.2", NAME)).toList();
    }

    /** Returns the paths in the order to try them. */
    static List<String> of(Map<String, String> environment, int driverMajor) {
        return new NvrtcPlaces(environment, driverMajor).list();
    }

    private List<String> list() {
        String said = environment.getOrDefault(VARIABLE, "");
        if (!said.isEmpty()) {
            return Files.isDirectory(Path.of(said)) ? in(Path.of(said)).toList() : List.of(said);
        }
        List<String> places = new ArrayList<>();
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String home = environment.getOrDefault(variable, "");
            if (!home.isEmpty()) {
                in(Path.of(home, "lib64")).forEach(places::add);
                in(Path.of(home, "lib")).forEach(places::add);
            }
        }
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            String prefix = environment.getOrDefault(variable, "");
            if (!prefix.isEmpty()) {
                inWheels(Path.of(prefix, "lib"), places);
            }
        }
        places.addAll(names); // the system searches for them
        in(Path.of("/usr/local/cuda/lib64")).forEach(places::add);
        inWheels(Path.of(environment.getOrDefault("HOME", "/"), ".local/lib"), places);
        inWheels(Path.of("/usr/local/lib"), places);
        inWheels(Path.of("/usr/lib"), places);
        return places;
    }

    private Stream<String> in(Path folder) {
        return names.stream().map(folder::resolve).filter(Files::exists).map(Path::toString);
    }

    private void inWheels(Path libraries, List<String> places) {
        if (!Files.isDirectory(libraries)) {
            return;
        }
        try (DirectoryStream<Path> pythons = Files.newDirectoryStream(libraries, "python3*")) {
            for (Path python : pythons) {
                for (String packages : List.of("site-packages", "dist-packages")) {
                    for (String wheel : WHEELS) {
                        in(python.resolve(packages).resolve(wheel)).forEach(places::add);
                    }
                }
            }
        } catch (IOException e) {
            // no library can be loaded from a folder that cannot be listed
        }
    }
}
