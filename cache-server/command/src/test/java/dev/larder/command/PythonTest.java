package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of the Python package that need no daemon. */
class PythonTest {
    @TempDir
    Path folder;

    @Test
    void everyModuleOfTestsIsRunHere() throws Exception {
        StringBuilder ours = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java")).toList()) {
                ours.append(Files.readString(file));
            }
        }

        try (Stream<Path> files = Files.list(PythonModules.TESTS)) {
            assertThat(files.map(path -> path.getFileName().toString()).filter(name -> name.matches("test_.*\\.py")))
                    .isNotEmpty()
                    .allSatisfy(name -> assertThat(ours).contains('"' + name.replace(".py", "\"")));
        }
    }

    @Test
    void pythonReadsStoresThatAnotherImplementationOfTheFormatWrote() throws Exception {
        PythonModules.requirePassed("python3", "test_larder", folder, Map.of());
    }

    @Test
    void pythonLooksNamesUpInTheIndex() throws Exception {
        PythonModules.requirePassed("python3", "test_index", folder, Map.of());
    }

    @Test
    void pythonCallsTheDaemonAndSurvivesEveryAnswer() throws Exception {
        PythonModules.requirePassed("python3", "test_control", folder, Map.of());
    }

    @Test
    void theCommandsOfPythonNeedNoNumpyAndHandTheRestOver() throws Exception {
        PythonModules.requirePassed("python3", "test_main", folder, Map.of());
    }

    @Tag("slow")
    @Test
    void firstCallsStartOneDaemon() throws Exception {
        PythonModules.requirePassed("python3", "test_serve", folder, Map.of());
    }

    @Test
    void whatNumpyComputesFromStoredArraysIsOrdinaryAndWhatItOnlyViewsStaysLeased() throws Exception {
        PythonModules.requirePassed("python3", "test_arrays", folder, Map.of());
    }

    @Test
    void pythonLoadsBatchesInTheOrderAndWithTheStatesOfJava() throws Exception {
        PythonModules.requirePassed("python3", "test_loader", folder, Map.of());
    }

    @Test
    void pythonVisitsTheSamplesOfJavasSamplersAndSkipsThoseThatFail() throws Exception {
        PythonModules.requirePassed("python3", "test_samplers", folder, Map.of());
    }

    @Test
    void rowsThatAreNotInMemoryAreReadAhead() throws Exception {
        PythonModules.requirePassed("python3", "test_ahead", folder, Map.of());
    }

    @Test
    void whatFunctionsReturnIsComputedOnce() throws Exception {
        PythonModules.requirePassed("python3", "test_calls", folder, Map.of());
    }

    @Test
    void callsWithEqualKeysHaveEqualResults() throws Exception {
        PythonModules.requirePassed("python3", "test_keys", folder, Map.of());
    }

    @Test
    void rowsAreComputedOnceByProcessesThatDieAndStop() throws Exception {
        PythonModules.requirePassed("python3", "test_rows", folder, Map.of());
    }

    @Test
    void recordsAreStoredOnceAndReadOnlyFromAStoreOfOnesOwn() throws Exception {
        PythonModules.requirePassed("python3", "test_records", folder, Map.of());
    }

    @Test
    void pythonReadsAlignedFilesOffsetsBeyondFourGibAndDatasetsWithoutRows() throws Exception {
        PythonModules.requirePassed("python3", "test_sizes", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pyTorchReadsDatasetsWhereItIsThere(String python) throws Exception {
        PythonModules.requirePassed(python, "test_torch", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void otherLibrariesUseArraysWhereTheyAreThere(String python) throws Exception {
        PythonModules.requirePassed(python, "test_frameworks", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void framesOfPandasAndPolarsLieInTheStoreWhereTheyAreThere(String python) throws Exception {
        PythonModules.requirePassed(python, "test_frames", folder, Map.of());
    }

    @Tag("slow")
    @Test
    void theOneFileThatIsMadeOfThePackageIsAsGoodAsIt() throws Exception {
        PythonModules.requirePassed("python3", "test_one_file", folder, Map.of());
    }

    @Tag("slow")
    @Test
    void lookUpsInAnIndexCostForkedWorkersNoMemory() throws Exception {
        PythonModules.requirePassed("python3", "test_columns_memory", folder, Map.of());
    }

    @Test
    void pythonReadsBatchesThatAnotherImplementationOfTheFormatPublishes() throws Exception {
        PythonModules.requirePassed("python3", "test_batches", folder, Map.of());
    }

    /** The other Python: where {@code python3} is not the system's, it often has other versions of everything. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "test_larder",
                "test_control",
                "test_main",
                "test_serve",
                "test_arrays",
                "test_loader",
                "test_samplers",
                "test_ahead",
                "test_calls",
                "test_keys",
                "test_rows",
                "test_records",
                "test_batches",
                "test_sizes"
            })
    void thePythonOfTheSystemPassesThemToo(String module) throws Exception {
        PythonModules.requirePassed("/usr/bin/python3", module, folder, Map.of("LARDER_TEST_PAIRS", "10000"));
    }
}
