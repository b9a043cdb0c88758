package io.lendstream.actuator.adoption;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.actuator.jobs.PrivateFiles;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.ProcessName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The file with which another actuator process takes over adopted processes; replaced atomically. */
final class AdoptionFile {
    /** Raised when earlier versions could not read the file. */
    static final int VERSION = 1;

    private static final ObjectMapper JSON = new ObjectMapper()
            .setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private final Path path;

    AdoptionFile(Path path) {
        this.path = path;
    }

    /**
     * All of the file.
     *
     * @param ended processes that were adopted and have ended, the latest last
     * @param boot the start of the system in which it was written; absent in earlier files
     */
    record Content(
            int version,
            List<Entry> processes,
            List<EndedEntry> ended,
            @Nullable String boot) {
        static final Content NOTHING = new Content(VERSION, List.of(), List.of(), null);

        /** Whether the system has started again since, so that the names can be those of other processes. */
        boolean isOfAnotherBoot(Optional<String> now) {
            return boot != null && now.filter(boot::equals).isEmpty();
        }
    }

    /**
     * A process that is adopted.
     *
     * @param asked whether it was to end
     * @param graceMillis how long it may take to end; absent for a replica, which others time
     */
    record Entry(
            @Nullable String job,
            @Nullable String service,
            String process,
            List<String> units,
            String decision,
            boolean asked,
            @Nullable Long graceMillis) {
        static Entry of(AdoptedTenant adopted, boolean asked, Optional<Long> graceMillis) {
            return new Entry(
                    adopted.tenant().jobId().map(JobId::value).orElse(null),
                    adopted.tenant().serviceId().map(ServiceId::value).orElse(null),
                    adopted.process().toString(),
                    adopted.units().stream().map(GpuId::value).toList(),
                    adopted.decision().toString(),
                    asked,
                    graceMillis.orElse(null));
        }

        AdoptedTenant adopted() {
            return new AdoptedTenant(
                    tenant(job, service),
                    ProcessName.parse(process)
                            .orElseThrow(() -> new IllegalArgumentException("no name of a process: " + process)),
                    units.stream().map(GpuId::new).toList(),
                    DecisionId.parse(decision));
        }
    }

    /**
     * A process that was adopted and has ended.
     *
     * @param asked whether it was to end
     * @param atMillis when, in milliseconds since 1970
     */
    record EndedEntry(@Nullable String job, @Nullable String service, String process, boolean asked, long atMillis) {
        Tenant tenant() {
            return AdoptionFile.tenant(job, service);
        }
    }

    private static Tenant tenant(@Nullable String job, @Nullable String service) {
        return job != null
                ? new Tenant.Job(new JobId(job))
                : new Tenant.Service(new ServiceId(String.valueOf(service)));
    }

    /**
     * Reads the file; a missing one, as that of an actuator that has adopted nothing, is empty.
     *
     * @throws UncheckedIOException if it cannot be read, or a later version has written it
     */
    Content read() {
        if (!Files.exists(path)) {
            return Content.NOTHING;
        }
        try {
            Content content = JSON.readValue(path.toFile(), Content.class);
            if (content.version() > VERSION) {
                throw new IOException(
                        "it has version %d, and this actuator reads up to version %d; use the later actuator"
                                .formatted(content.version(), VERSION));
            }
            return content;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot read %s, which lists the processes that were taken over; remove it to give them up"
                            .formatted(path),
                    e);
        }
    }

    void write(Content content) {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try {
            PrivateFiles.empty(fresh);
            JSON.writeValue(fresh.toFile(), content);
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + path, e);
        }
    }
}
