package io.lendstream.agent.gpu.nvml;

import java.util.ArrayList;
import java.util.List;

/**
 * The reasons why a GPU's clocks are reduced.
 *
 * @see <a href="https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html">nvmlClocksEventReasons</a>
 */
public final class ThrottleReasons {
    private static final List<String> REASONS = List.of(
            "gpu-idle",
            "applications-clocks-setting",
            "sw-power-cap",
            "hw-slowdown",
            "sync-boost",
            "sw-thermal-slowdown",
            "hw-thermal-slowdown",
            "hw-power-brake-slowdown",
            "display-clock-setting",
            "board-limit",
            "reliability");

    private ThrottleReasons() {}

    /** The bits as words, lowest first; an unknown bit is shown as its number. */
    public static List<String> words(long bits) {
        var words = new ArrayList<String>();
        for (long left = bits; left != 0; left &= left - 1) {
            int bit = Long.numberOfTrailingZeros(left);
            words.add(bit < REASONS.size() ? REASONS.get(bit) : "reason-0x" + Long.toHexString(1L << bit));
        }
        return words;
    }
}
