pub type Lift = fn();
pub mod atomic { pub fn atom() {} pub fn red() {} }
pub mod barrier { pub fn bar() {} pub fn barrier() {} pub fn cluster() {} pub fn nothing() {} pub fn take_result() {} }
pub mod bits { pub fn and() {} pub fn bfe() {} pub fn bfi() {} pub fn bfind() {} pub fn bmsk() {} pub fn brev() {} pub fn clz() {} pub fn cnot() {} pub fn dp2a() {} pub fn dp4a() {} pub fn fns() {} pub fn lop3() {} pub fn not() {} pub fn or() {} pub fn popc() {} pub fn prmt() {} pub fn shf() {} pub fn shl() {} pub fn shr() {} pub fn szext() {} pub fn xor() {} }
pub mod calls { pub fn ask() {} pub fn pass_arguments() {} pub fn take_answer() {} pub fn take_returns() {} }
pub mod cluster { pub fn getctarank() {} pub fn mapa() {} }
pub mod compare { pub fn selp() {} pub fn set() {} pub fn setp() {} pub fn slct() {} }
pub mod context { pub fn active() {} pub fn address() {} pub fn and() {} pub fn bits() {} pub fn bits128() {} pub fn body() {} pub fn carry() {} pub fn cast() {} pub fn cell_pred() {} pub fn cell_type() {} pub fn cell_value() {} pub fn cells() {} pub fn constant() {} pub fn constant_bank() {} pub fn declare() {} pub fn driver() {} pub fn executing() {} pub fn float() {} pub fn float_type() {} pub fn guard() {} pub fn int_type() {} pub fn is_refused() {} pub fn literal_bits() {} pub fn mask_value() {} pub fn named_space() {} pub fn new() {} pub fn not() {} pub fn operand() {} pub fn or() {} pub fn pred() {} pub fn register() {} pub fn register_type() {} pub fn resize() {} pub fn select() {} pub fn set() {} pub fn set128() {} pub fn set_active() {} pub fn set_carry() {} pub fn set_cell() {} pub fn set_cell_pred() {} pub fn set_pred() {} pub fn special() {} pub fn start() {} pub fn symbol() {} pub fn word() {} pub fn xor() {} }
pub mod control { pub fn alloca() {} pub fn bra() {} pub fn brkpt() {} pub fn brx() {} pub fn call() {} pub fn exit() {} pub fn nanosleep() {} pub fn nothing() {} pub fn pmevent() {} pub fn ret() {} pub fn stackrestore() {} pub fn stacksave() {} pub fn trap() {} }
pub mod convert { pub fn cvt() {} pub fn cvt_pack() {} pub fn from_bf16() {} pub fn pack() {} pub fn to_bf16() {} }
pub mod copy { pub fn bulk() {} pub fn bulk_prefetch() {} pub fn bulk_reduce() {} pub fn commit() {} pub fn cp_async() {} pub fn mbarrier_arrive() {} pub fn wait() {} }
pub mod driver {  }
pub mod emit { pub fn lift_kernel() {} pub fn local_bytes() {} }
pub mod fence { pub fn fence() {} }
pub mod float { pub fn abs() {} pub fn add() {} pub fn attrs() {} pub fn copysign() {} pub fn cos() {} pub fn div() {} pub fn ex2() {} pub fn extreme_of() {} pub fn fma() {} pub fn lg2() {} pub fn max() {} pub fn min() {} pub fn mul() {} pub fn neg() {} pub fn rcp() {} pub fn rounding() {} pub fn rsqrt() {} pub fn sin() {} pub fn sqrt() {} pub fn sub() {} pub fn tanh() {} pub fn tanh_of() {} pub fn testp() {} }
pub mod flow {  }
pub mod graph { pub fn across_nodes() {} pub fn new() {} pub fn of() {} pub fn successors() {} }
pub mod half { pub fn abs() {} pub fn add() {} pub fn ex2() {} pub fn fma() {} pub fn max() {} pub fn min() {} pub fn mixed_add() {} pub fn mixed_fma() {} pub fn mixed_sub() {} pub fn mul() {} pub fn neg() {} pub fn sub() {} pub fn tanh() {} }
pub mod integer { pub fn abs() {} pub fn add() {} pub fn div() {} pub fn mad() {} pub fn mad24() {} pub fn max() {} pub fn min() {} pub fn mul() {} pub fn mul24() {} pub fn neg() {} pub fn packed_add() {} pub fn packed_max() {} pub fn packed_min() {} pub fn rem() {} pub fn sad() {} pub fn sub() {} }
pub mod matrix { pub fn ldmatrix() {} pub fn mma() {} pub fn movmatrix() {} pub fn stmatrix() {} pub fn wgmma() {} pub fn wgmma_order() {} pub fn wmma_load() {} pub fn wmma_mma() {} pub fn wmma_store() {} }
pub mod mbarrier { pub fn arrive() {} pub fn arrive_drop() {} pub fn complete_tx() {} pub fn expect_tx() {} pub fn init() {} pub fn inval() {} pub fn pending_count() {} pub fn test_wait() {} }
pub mod memory { pub fn createpolicy() {} pub fn hint() {} pub fn ld() {} pub fn ldu() {} pub fn st() {} pub fn st_bulk() {} }
pub mod moves { pub fn cvta() {} pub fn isspacep() {} pub fn istypep() {} pub fn mov() {} }
pub mod order { pub fn positions() {} pub fn waiting() {} }
pub mod place { pub fn function() {} pub fn new() {} pub fn variable() {} pub fn with() {} }
pub mod service { pub fn arguments() {} pub fn by_name() {} pub fn result() {} }
pub mod surface { pub fn suld() {} pub fn suq() {} pub fn sured() {} pub fn sust() {} }
pub mod texture { pub fn tex() {} pub fn tld4() {} pub fn txq() {} }
pub mod uses { pub fn each() {} pub fn is_barrier() {} }
pub mod video { pub fn absdiff() {} pub fn add() {} pub fn mad() {} pub fn max() {} pub fn min() {} pub fn set() {} pub fn shl() {} pub fn shr() {} pub fn simd() {} pub fn sub() {} }
pub mod warp { pub fn activemask() {} pub fn elect() {} pub fn match_lanes() {} pub fn redux() {} pub fn shfl() {} pub fn vote() {} pub fn warp_sync() {} }
