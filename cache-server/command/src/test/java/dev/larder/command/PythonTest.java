package dev.larder.command;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of the Python package that need no daemon. */
class PythonTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsStoresThatAnotherImplementationOfTheFormatWrote(String python) throws Exception {
        PythonModules.requirePassed(python, "test_larder", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void whatNumpyComputesFromStoredArraysIsOrdinaryAndWhatItOnlyViewsStaysLeased(String python) throws Exception {
        PythonModules.requirePassed(python, "test_arrays", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonLoadsBatchesInTheOrderAndWithTheStatesOfJava(String python) throws Exception {
        PythonModules.requirePassed(python, "test_loader", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void whatFunctionsReturnIsComputedOnce(String python) throws Exception {
        PythonModules.requirePassed(python, "test_calls", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void rowsAreComputedOnceByProcessesThatDieAndStop(String python) throws Exception {
        PythonModules.requirePassed(python, "test_rows", folder, Map.of());
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

    @Test
    void theOneFileThatIsMadeOfThePackageIsAsGoodAsIt() throws Exception {
        PythonModules.requirePassed("python3", "test_one_file", folder, Map.of());
    }

    @Test
    void lookUpsInAnIndexCostForkedWorkersNoMemory() throws Exception {
        PythonModules.requirePassed("python3", "test_columns_memory", folder, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsBatchesThatAnotherImplementationOfTheFormatPublishes(String python) throws Exception {
        PythonModules.requirePassed(python, "test_batches", folder, Map.of());
    }
}
