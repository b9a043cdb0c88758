/** The whole loop in one command: starts the stack, plays a workload, shows what happens, and judges it afterwards. */
@NullMarked
package io.lendstream.launcher.demo;

import org.jspecify.annotations.NullMarked;
