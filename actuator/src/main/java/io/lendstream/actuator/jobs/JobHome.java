package io.lendstream.actuator.jobs;

import io.lendstream.core.id.JobId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/** File names for jobs: ASCII, never {@code .} or {@code ..}, and below a file system's limit of 255 bytes. */
final class JobHome {
    /** Longer names are cut, and distinguished by a hash. */
    private static final int LONGEST = 128;

    private static final int CUT = 60;

    private JobHome() {}

    /** Directory of a job below {@code jobs}; two jobs never have the same. */
    static Path of(Path jobs, JobId id) {
        // The encoder leaves letters, digits and ".-*_" and makes %XX of all else; '~' marks a hash.
        String encoded = URLEncoder.encode(id.value(), StandardCharsets.UTF_8);
        String name = encoded.startsWith(".") ? "%2E" + encoded.substring(1) : encoded;
        return jobs.resolve(name.length() <= LONGEST ? name : name.substring(0, CUT) + "~" + hash(id.value()));
    }

    /** The prefix of a job's worker names, for people; a random part follows it. */
    static String label(JobId id) {
        String label = id.value().replaceAll("[^A-Za-z0-9._-]", "_");
        return label.length() <= LONGEST ? label : label.substring(0, LONGEST);
    }

    /**
     * Why no process can be started for a job of this name; the name is used in arguments and environment variables.
     */
    static Optional<String> complaint(JobId id) {
        String name = id.value();
        if (name.indexOf('\0') >= 0) {
            return Optional.of(
                    "the job's name has a NUL character, which processes cannot receive; submit it under another name");
        }
        return StandardCharsets.UTF_8.newEncoder().canEncode(name)
                ? Optional.empty()
                : Optional.of("the job's name is not valid Unicode; submit it under another name");
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
