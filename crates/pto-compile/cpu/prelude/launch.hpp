// Launches. `kernel<<<grid, l2, stream>>>(args)` is rewritten to
// `ptocpu::site([](auto... a) { kernel(a...); }, [] { return PTOCPU_PLACE("file:line"); }).grid(grid, l2, stream)(args)`:
// every piece stays where it was. The place is a type of its own, so that a site is known before it is ever reached.
#pragma once

namespace ptocpu {

inline void prepare_core(const ptocpu_core &core)
{
    blocks = core.blocks;
    pto::cpu_sim::set_execution_context(core.block, core.sub, core.sub_dim);
#if PTOCPU_HAS_GET_BLOCK_NUM
    {
        // Shared by all cores: written under its own mutex, always with the same value within a launch.
        auto &config = pto::cpu_sim::runtime_config();
        std::scoped_lock lock(config.mutex);
        config.initialized = true;
        config.num_cores = core.blocks;
    }
#endif
    prepare_memory();
#if PTOCPU_HAS_PIPE_HOOK
    pto::cpu_sim::injected_pipe_shared_state_hook = [](uint64_t key, size_t size) {
        return ptocpu_block_storage(std::to_string(key).c_str(), size);
    };
#endif
}

// What PTOCPU_PLACE makes of a place: the library, whose id the build puts before each source, and file and line.
struct Place {
    const char *library, *line;
};

// One launch site with the argument types it is used with. Registered when the library is loaded.
template <typename Kernel, typename Where, typename... Args>
struct Site {
    using Tuple = std::tuple<Args...>;

    static void run(void *args, const ptocpu_core *core)
    {
        prepare_core(*core);
        // A copy for each core: a kernel may change its parameters.
        Tuple copy = *static_cast<Tuple *>(args);
        std::apply([](auto &...values) { Kernel{}(values...); }, copy);
    }

    // __PRETTY_FUNCTION__ would not tell instantiations of one template apart with every compiler.
    static ptocpu_site site()
    {
        const Place place = Where{}();
        return {typeid(Site).name(), place.library, place.line};
    }

    struct Registrar {
        Registrar()
        {
            const ptocpu_site here = site();
            ptocpu_register(&here, PTOCPU_SIDE, run);
        }
    };
    static inline Registrar registrar;
};

template <typename T>
inline constexpr bool is_data_pointer = std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>;

template <typename T>
void collect_pointer(const void **&end, const T &value)
{
    if constexpr (is_data_pointer<T>) *end++ = const_cast<const void *>(static_cast<const volatile void *>(value));
}

template <typename Kernel, typename Where>
struct Launcher {
    uint32_t blocks = 1;
    void *stream = nullptr;

    template <typename Grid, typename L2 = std::nullptr_t, typename Stream = std::nullptr_t>
    Launcher grid(Grid grid, L2 = nullptr, Stream on = nullptr) const
    {
        return {static_cast<uint32_t>(grid), (void *)on};
    }

    template <typename... Args>
    void operator()(Args... args) const
    {
        using Here = Site<Kernel, Where, Args...>;
        (void)&Here::registrar;
        const void *pointers[sizeof...(args) + 1], **end = pointers;
        (collect_pointer(end, args), ...);
        using Tuple = typename Here::Tuple;
        const ptocpu_site here = Here::site();
        ptocpu_launch(&here, blocks, stream, new Tuple(args...),
                      [](void *tuple) { delete static_cast<Tuple *>(tuple); }, pointers, end - pointers);
    }
};

template <typename Kernel, typename Where>
Launcher<Kernel, Where> site(Kernel, Where)
{
    return {};
}

}  // namespace ptocpu

#define PTOCPU_PLACE(line) ::ptocpu::Place{PTOCPU_LIBRARY, line}

// The cube side of a mix kernel holds the launcher and brings the vector side along; the build puts this before its source.
#define PTOCPU_LOAD_SIBLING(file_name) \
    static const char ptocpu_anchor = 0; \
    [[maybe_unused]] static const bool ptocpu_sibling_loaded = (ptocpu_load_sibling(&ptocpu_anchor, file_name), true);
