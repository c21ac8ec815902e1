package dev.larder.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Build;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Gets the turn to build in folders that are of no use. */
@Timeout(300)
class BuildFolderTest {
    @TempDir(factory = ShortFolder.class)
    Path store;

    @BeforeEach
    void makeStore() throws IOException {
        Files.createDirectory(new StoreLayout(store).data());
    }

    private void assertRefused(String folder, ErrorCode code, String message) throws Exception {
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(new Build(folder, null));
                Larder larder = Larder.connect(store)) {
            assertThatThrownBy(() -> larder.build("x").close())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                    .hasMessageContaining(message);
            assertThat(daemon.received()).hasSize(1);
        }
    }

    @Test
    void aFolderThatThisLocaleCannotNameEndsTheTurn() throws Exception {
        assertRefused("/no\0folder", ErrorCode.BAD_INPUT, "cannot be a file name in this locale: folder=/no");
    }

    @Test
    void rootIsRefusedWhereNobodyElseCouldReadWhatItWrites() throws Exception {
        Assumptions.assumeTrue(Posix.system().userId() == 0, "only root can give a folder away");
        Path folder = Files.createDirectory(store.resolve("incoming"));
        Files.setAttribute(folder, "unix:uid", 65_534);

        assertRefused(folder.toString(), ErrorCode.REFUSED, "root cannot build in the store of another user");
    }
}
