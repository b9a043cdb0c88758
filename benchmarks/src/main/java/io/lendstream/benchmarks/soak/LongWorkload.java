package io.lendstream.benchmarks.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** A workload of any length with much lending: services whose demand rises and falls each hour, and enough jobs. */
final class LongWorkload {
    private static final int SERVICES = 8;
    private static final int STEP_SECONDS = 60;
    private static final int WAVE_SECONDS = 3600;
    private static final int JOB_EVERY_SECONDS = 300;

    private LongWorkload() {}

    /**
     * Writes its files.
     *
     * @param peakPerService requests per second at the top of a wave
     * @return what {@code --workload} takes
     */
    static String write(Path directory, int hours, int peakPerService) throws IOException {
        var services = new StringBuilder(
                "service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale\n");
        for (int service = 0; service < SERVICES; service++) {
            var series = new StringBuilder("epoch_s,value\n");
            for (int second = 0; second <= hours * 3600; second += STEP_SECONDS) {
                double phase = (double) second / WAVE_SECONDS + (double) service / SERVICES;
                double wave = (1 - Math.cos(2 * Math.PI * phase)) / 2;
                series.append(String.format(Locale.ROOT, "%d,%.2f\n", second, 1 + (peakPerService - 1) * wave));
            }
            Files.writeString(directory.resolve("rates-" + service + ".csv"), series);
            services.append("service-%d,rates-%d.csv,0.1,10,500,8,1\n".formatted(service, service));
        }
        var jobs = new StringBuilder("job,submitSeconds,gpus,runSeconds\n");
        for (int second = 0; second < hours * 3600; second += JOB_EVERY_SECONDS) {
            int number = second / JOB_EVERY_SECONDS;
            jobs.append("job-%d,%d,%d,%d\n".formatted(number, second, 4 << number % 3, 1200 + 600 * (number % 4)));
        }
        Path listed = Files.writeString(directory.resolve("jobs.csv"), jobs);
        return Files.writeString(directory.resolve("services.csv"), services) + "," + listed;
    }
}
