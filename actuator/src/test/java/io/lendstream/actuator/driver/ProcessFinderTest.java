package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.actuator.adoption.AdoptionHost;
import io.lendstream.actuator.adoption.FoundProcess;
import io.lendstream.actuator.adoption.ProcessScan;
import io.lendstream.actuator.adoption.Strangers;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessFinderTest {
    @TempDir
    private Path directory;

    @Test
    void whatMayNotBeSignalledIsLeftOut() throws Exception {
        try (var strangers = new Strangers(
                Files.createDirectory(directory.resolve("strangers")).toRealPath())) {
            String one = Strangers.user(strangers.idle("this"));
            String other = Strangers.user(strangers.idle("that"));
            AdoptionSelector all = new AdoptionSelector(Map.of("command", "*" + directory + "/strangers/trainer*"));
            Map<Tenant, AdoptionSelector> selectors = Map.of(Orders.CHAT, all);
            var scan = new ProcessScan(new HostProcesses(), Long.MAX_VALUE);
            AdoptionHost host = Strangers.host(
                    directory.resolve("state"), user -> user.equals(other) ? Optional.of("no") : Optional.empty());

            var finder = new ProcessFinder(scan, host);

            for (int look = 0; look < 2; look++) {
                List<FoundProcess> found = finder.find(selectors);
                assertThat(found).extracting(FoundProcess::user).containsExactly(one);
            }
            host.close();
        }
    }
}
