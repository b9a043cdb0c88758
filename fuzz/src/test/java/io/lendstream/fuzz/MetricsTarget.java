package io.lendstream.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.agent.rates.RateReaders;
import io.lendstream.agent.users.KubeletReader;
import java.util.Arrays;
import java.util.List;

/**
 * What an agent reads from servers of others. The first byte chooses the reader: two readings of a metrics endpoint, parted
 * by the byte 0; Triton's statistics; a pod; the kubelet's list of devices.
 */
public final class MetricsTarget {
    private MetricsTarget() {}

    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length < 2) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(data, 2, data.length);
        switch (data[0] & 3) {
            case 0 -> {
                int cut = 0;
                while (cut < rest.length && rest[cut] != 0) {
                    cut++;
                }
                RateReaders.endpoint(
                        data[1] & 0xff,
                        List.of(
                                new String(rest, 0, cut, UTF_8),
                                new String(
                                        rest,
                                        Math.min(rest.length, cut + 1),
                                        Math.max(0, rest.length - cut - 1),
                                        UTF_8)));
            }
            case 1 -> RateReaders.triton(new String(rest, UTF_8));
            case 2 -> RateReaders.pod(new String(rest, UTF_8));
            default -> KubeletReader.read(rest);
        }
    }
}
