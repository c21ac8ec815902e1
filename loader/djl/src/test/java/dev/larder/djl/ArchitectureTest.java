package dev.larder.djl;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Holds this module's borders; the test of that name in the command does not see it (decision 25). */
class ArchitectureTest {
    @Test
    void theAdapterUsesClientLoaderAndDjlAlone() {
        classes()
                .that()
                .resideInAPackage("dev.larder.djl..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(
                        "dev.larder.djl..",
                        "dev.larder.client..",
                        "dev.larder.npy..",
                        "dev.larder.error..",
                        "dev.larder.internal.error..",
                        "dev.larder.loader..",
                        "ai.djl..",
                        "java..",
                        "org.agrona..",
                        "org.jspecify.."))
                .check(new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .importPackages("dev.larder.djl"));
    }
}
